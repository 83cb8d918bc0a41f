"""Words of the topics of 20 newsgroups: of the group's name, and what it is about. Written before any keyword was seen."""

WORDS = {
    "alt.atheism": "atheism atheist atheists god religion",
    "comp.graphics": "graphics image images gif polygon rendering",
    "comp.os.ms-windows.misc": "windows dos microsoft",
    "comp.sys.ibm.pc.hardware": "pc ibm ide scsi drive bios motherboard card controller",
    "comp.sys.mac.hardware": "mac macs apple macintosh centris quadra",
    "comp.windows.x": "x11 x11r5 window windows motif xterm widget server",
    "misc.forsale": "sale forsale sell selling shipping offer",
    "rec.autos": "auto autos car cars engine ford",
    "rec.motorcycles": "motorcycle motorcycles bike bikes dod ride riding",
    "rec.sport.baseball": "baseball pitcher pitching game team players",
    "rec.sport.hockey": "hockey nhl game team players",
    "sci.crypt": "crypt crypto encryption clipper key keys nsa",
    "sci.electronics": "electronics circuit circuits voltage",
    "sci.med": "med medical medicine doctor disease patients",
    "sci.space": "space nasa orbit moon shuttle launch",
    "soc.religion.christian": "religion christian christians god jesus church christ",
    "talk.politics.guns": "gun guns firearms firearm weapons",
    "talk.politics.mideast": "mideast israel israeli arab armenian armenians jews turkish",
    "talk.politics.misc": "politics political government president clinton",
    "talk.religion.misc": "religion god christian christians jesus bible",
}
TOPICS = {group: set(words.split()) for group, words in WORDS.items()}
