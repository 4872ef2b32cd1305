"""`airtcp lab`: a local web page to explore a link interactively.

```text
 browser ──▶ server ──▶ guard (Host, Origin, sizes)
               ├─▶ assets      the page itself, package data
               ├─▶ sources     ready scenarios, and files dropped on the page
               ├─▶ controls    which keys matter on this link, with ranges from the schema
               ├─▶ play        two sides on one channel, in stretches of virtual time
               ├─▶ cloud       the same over many seeds
               ├─▶ explain     the packets around a timeout
               └─▶ reports     pages of past comparisons
```
"""
