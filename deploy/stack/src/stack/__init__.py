"""All of Traceline as processes on one machine, watched over by supervisord."""
