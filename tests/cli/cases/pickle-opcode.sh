exec 2>&1
unpacked p
# A pickle that would run a command, had it its way.
refuses_batch '\200\002}q\000U\004datacos\nsystem\nU\015touch pwned;:\205R.'
refuses_batch '\200\002cposix\nsystem\nU\013touch pwned\205R.'
refuses_batch '\200\002}q\000U\004dataP0\n.'
refuses_batch '\200\002}q\000U\004data\202\001.'
ls -A
