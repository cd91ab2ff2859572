"""The data sets that are known by name. All that is listed of them, C and gamma included, is listed here."""

from dataclasses import replace

from budgetsvm.datasets._entry import DataFile, Entry

# Checksums are of the unpacked text. Those of the two-class sets and of usps.t agree with ones published
# elsewhere for the files of the page; those of the others rest on a single copy.
#
# C and gamma of the first five are the paper's; those of letter are customary. The others are what the exact SVM
# predicts best with in cross-validation, on a grid of powers of two; the benchmarks can search again.
_ADULT = Entry(
    "adult",
    123,
    DataFile(
        "a9a",
        32_561,
        "binary/a9a",
        ("f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",),
    ),
    DataFile(
        "a9a.t",
        16_281,
        "binary/a9a.t",
        ("1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",),
    ),
    C=2.0**5,
    gamma=2.0**-7,
)
_IJCNN = Entry(
    "ijcnn",
    22,
    DataFile(
        "ijcnn1",
        49_990,
        "binary/ijcnn1.bz2",
        (
            "16506cad788cf7c9607454150ed1994788204bac2ff4c9cb3b320036b6950d3f",
            # A copy that writes the labels as 1.0 and -1.0.
            "7fe291672c3fefe6a7e3c51529becd23f0e985ba05ffb8d53c9c648c1e91cc19",
        ),
    ),
    DataFile(
        "ijcnn1.t",
        91_701,
        "binary/ijcnn1.t.bz2",
        ("e7b0bbd518641980dc322746c6bc59d019d3153934e6258e48f9d8cfae2c4bb8",),
    ),
    C=2.0**5,
    gamma=2.0,
)
_COD_RNA = Entry(
    "cod-rna",
    8,
    DataFile(
        "cod-rna",
        59_535,
        "binary/cod-rna",
        ("65b7cc0689fc29bba5db8b50fab0b6446d985f4bf8f6f5dd474f7df8b2f1ab6c",),
    ),
    DataFile(
        "cod-rna.t",
        271_617,
        "binary/cod-rna.t",
        ("58cff16df896436b06343df78ccaef37a6979d819abbcadbec3cb16b93938df6",),
    ),
    scaling="range",
    C=2.0**5,
    gamma=2.0**-3,
)
_COVTYPE = Entry(
    "covtype",
    54,
    DataFile("covtype.libsvm.binary.scale", 581_012, "binary/covtype.libsvm.binary.scale.bz2"),
    split="fifth",
    C=2.0**7,
    gamma=2.0**-3,
)
_WHOLE_SUSY = Entry(
    "susy",
    18,
    DataFile("SUSY", 5_000_000, "binary/SUSY.xz"),
    scaling="standard",
    split="last tenth",
    C=2.0**5,
    gamma=2.0**-7,
)
_SUSY_SUBSET = DataFile("SUSY.subset41k", 40_924, whole=("SUSY", 5_000_000))
_SUSY = replace(_WHOLE_SUSY, subset=replace(_WHOLE_SUSY, train=_SUSY_SUBSET, split="fifth"))
_MUSHROOMS = Entry(
    "mushrooms",
    112,
    DataFile(
        "mushrooms",
        8_124,
        "binary/mushrooms",
        ("f39a4eb628dc61a7d43760815b061c9e497aa728ce1ad8bde57a09ef6043b538",),
    ),
    split="fifth",
    C=2.0,
    gamma=2.0**-5,
)
_LETTER = Entry(
    "letter",
    16,
    DataFile(
        "letter.scale",
        15_000,
        "multiclass/letter.scale",
        ("ce2c7df15cc5742dc4382d59079181c97c21e0beaa0af53c84cc5745c69f1020",),
    ),
    DataFile(
        "letter.scale.t",
        5_000,
        "multiclass/letter.scale.t",
        ("07522ccbf54187fae6d560d1712b88c41ea1f7e8d19491c5adcc22ee37a075da",),
    ),
    C=2.0**4,
    gamma=2.0**2,
)
_PENDIGITS = Entry(
    "pendigits",
    16,
    DataFile(
        "pendigits",
        7_494,
        "multiclass/pendigits",
        ("6e8a2f318a24d97d26a9c381642621dc955fed73ec44c4d417bd7afbb47ed67c",),
    ),
    DataFile(
        "pendigits.t",
        3_498,
        "multiclass/pendigits.t",
        ("5ddb2f034e1c5ca8a47b8a7e78510f8a9d68015cf40a5031534c693fba9773d3",),
    ),
    scaling="range",
    C=2.0,
    gamma=2.0,
)
_SATIMAGE = Entry(
    "satimage",
    36,
    DataFile(
        "satimage.scale",
        4_435,
        "multiclass/satimage.scale",
        ("b7150252d3117712588d9d5dfeb1a409234340313a93b458f66449a2678d5542",),
    ),
    DataFile(
        "satimage.scale.t",
        2_000,
        "multiclass/satimage.scale.t",
        ("da3fb85baadd087beb9e8b32931224c443e26dc3305c09396170ab8997aedf92",),
    ),
    C=2.0**3,
    gamma=2.0**-1,
)
_USPS = Entry(
    "usps",
    256,
    DataFile("usps", 7_291, "multiclass/usps.bz2"),
    DataFile(
        "usps.t",
        2_007,
        "multiclass/usps.t.bz2",
        ("3839faa29aa5f6bfa0516cdd599fae8ad59b7a3777d09f7ca971d9f1cd8b6c6b",),
    ),
)
# The digits as prepared for "The Elements of Statistical Learning": other pixels than in usps.
_USPS_ESL = Entry(
    "usps-esl",
    256,
    DataFile("usps.esl-train", 7_291),
    split="fifth",
    C=2.0**3,
    gamma=2.0**-7,
)
_FASHION = Entry(
    "fashion-mnist-10k",
    784,
    DataFile("fashion-mnist.10k", 10_000, whole=("Fashion-MNIST", 60_000)),
    DataFile("fashion-mnist.t", 10_000),
    scaling="bytes",
    C=2.0**3,
    gamma=2.0**-7,
)
_ABALONE = Entry(
    "abalone",
    8,
    DataFile(
        "abalone",
        4_177,
        "regression/abalone",
        ("b4b37cab1676dc8a782a9bbbcb620ec3b48b3f651ecfaba24ff53a55ec357523",),
    ),
    scaling="standard",
    split="fifth",
    C=2.0**3,
    gamma=2.0**-3,
    epsilon=2.0**-2,
)
_CADATA = Entry(
    "cadata",
    8,
    DataFile("cadata", 20_640, "regression/cadata"),
    scaling="standard",
    split="fifth",
    C=2.0**3,
    gamma=2.0**-3,
    epsilon=2.0**-2,
)
_CPUSMALL = Entry(
    "cpusmall",
    12,
    DataFile("cpusmall", 8_192, "regression/cpusmall"),
    scaling="standard",
    split="fifth",
    C=2.0**5,
    gamma=2.0**-7,
    epsilon=2.0**-3,
)

#: Those of the paper first, then two classes, many classes, regression.
ENTRIES = (
    *(_ADULT, _IJCNN, _COD_RNA, _COVTYPE, _SUSY, _MUSHROOMS),
    *(_LETTER, _PENDIGITS, _SATIMAGE, _USPS, _USPS_ESL, _FASHION),
    *(_ABALONE, _CADATA, _CPUSMALL),
)


def known_names() -> list[str]:
    """Return the names of all data sets."""
    return [entry.name for entry in ENTRIES]


def find_entry(name: str) -> Entry:
    """Return the data set of this name, in upper or lower case, with _ or -."""
    if isinstance(name, str):
        plain = name.lower().replace("_", "-")
        for entry in ENTRIES:
            if entry.name == plain:
                return entry
    message = f"there is no data set {name!r}; there are {', '.join(known_names())}"
    raise ValueError(message)
