"""English words that hold a sentence together and say nothing of what it is about."""

_WORDS = """
    a about above across after afterwards again against all almost along already also although always am
    among an and another any anyone anything anywhere are aren around as at be became because become
    becomes been before being below beside besides between beyond both but by came can cannot come could
    couldn did didn do does doesn doing don done due during each eg either else elsewhere enough etc even
    ever every everyone everything everywhere except few for from further furthermore gave get gets
    getting give given gives giving go goes going gone got had hadn has hasn have haven having he hence
    her here hereby herein hers herself him himself his how however i ie if in indeed instead into is isn
    it its itself just keep keeps kept least less let lets like likewise ll made make makes making many
    may maybe me meanwhile might more moreover most mostly much must mustn my myself namely near neither
    nevertheless no nobody nor not nothing now nowhere of off often on once one only onto or other others
    otherwise ought our ours ourselves out over own per perhaps please put puts quite rather really
    regarding same saw see seem seemed seems seen several shall she should shouldn since so some somehow
    someone something sometimes somewhere still such take taken takes taking than that the their theirs
    them themselves then thence there thereafter thereby therefore therein these they this those though
    through throughout thus to together too took toward towards two under unless until up upon us ve very
    via was wasn we well went were weren what whatever when whenever where whereas whereby wherein
    wherever whether which whichever while who whoever whole whom whose why will with within without won
    would wouldn yet you your yours yourself yourselves
"""

STOP_WORDS = frozenset(_WORDS.split())
