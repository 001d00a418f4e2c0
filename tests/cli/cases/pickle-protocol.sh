exec 2>&1
unpacked p
refuses_batch '(dp0\nVdata\np1\nI1\ns.'
refuses_batch '\200\001}q\000.'
refuses_batch '\200\006}q\000.'
refuses_batch 'no pickle at all'
refuses_batch ''
