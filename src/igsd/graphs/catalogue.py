"""The named data sets: what they are, how large, and the checksum of their content.

Checksums are of the parsed ``GraphSet`` and not of the zip, because the same data set is packed in
several ways: re-zipped, with every edge listed twice, or unpacked inside a package.
"""

from __future__ import annotations

from dataclasses import dataclass

from igsd.errors import DataError, nearest


@dataclass(frozen=True)
class CatalogueEntry:
    """One named data set; counts are 0 and the checksum is empty where they are not known."""

    name: str
    about: str
    graphs: int = 0
    classes: int = 0
    checksum: str = ""
    downloadable: bool = True


_ENTRIES = (
    CatalogueEntry(
        "MUTAG",
        "molecules, mutagenic or not",
        188,
        2,
        "96efa9ed4ce564ca0aab80132f98fa141ee8d9a2398ffc1c2a849e6f02bbacc0",
    ),
    CatalogueEntry(
        "PTC",
        "molecules with hydrogens, carcinogenic for male rats or not",
        344,
        2,
        "656b6d06eb9402dbe9128d8d04d38ae5ec50a825852b15beedf29858054ddeb4",
        downloadable=False,
    ),
    CatalogueEntry(
        "PTC_MR",
        "the molecules of PTC without hydrogens",
        344,
        2,
        "6140d51bb4d91f95d74d637b5c7d0ae8a7b7c2805facca2fcb7fbb01e9a7f3b4",
    ),
    CatalogueEntry(
        "NCI1",
        "molecules, active against lung cancer cells or not",
        4110,
        2,
        "87ed4e2ad5a5ce888162a745bd6d9a00577fb6eea4cdba34cc3df9e7a76af768",
    ),
    CatalogueEntry(
        "IMDB-BINARY",
        "actors who appeared together, by genre",
        1000,
        2,
        "bbde67d28931deb897b0a4f47ee6cc47f7d535c6f62113b5adc408ae0ef26c71",
    ),
    CatalogueEntry(
        "IMDB-MULTI",
        "actors who appeared together, by genre",
        1500,
        3,
        "6b2330429a85240e7fe0334e2e923ba0f1d46c03ffb028c8219e2709898d75d7",
    ),
    CatalogueEntry(
        "COLLAB",
        "researchers who wrote together, by field of physics",
        5000,
        3,
        "46aff360836a57f89fe158baa923defe46e2e20a7ab30e2d5e2a643ca10bcde5",
    ),
    CatalogueEntry(
        "PROTEINS",
        "proteins, enzymes or not",
        1113,
        2,
        "b66643c880a259ebe896b5183aa2401e6da18d5bf7576c8786e278345d042c41",
    ),
    CatalogueEntry(
        "DD",
        "proteins at the level of amino acids, enzymes or not",
        1178,
        2,
        "685e192d6fa5c1e98c69b81229357f31e88686cf7358376d01dbe7919246666f",
    ),
    CatalogueEntry(
        "B3DB",
        "molecules that pass the blood-brain barrier or not",
        7807,
        2,
        downloadable=False,
    ),
    CatalogueEntry(
        "QM9",
        "small molecules with coordinates and fifteen quantum-chemical properties",
        130831,
        0,
        "fbf4ad8ce52af45e5743cde51c78a38c992c81f0c5f20e7b4cba0f5dab9ac6cd",
        downloadable=False,
    ),
)

_OTHER_TU = """
AIDS alchemy_full aspirin benzene BZR BZR_MD COIL-DEL COIL-RAG COLORS-3 COX2 COX2_MD Cuneiform
dblp_ct1 dblp_ct2 DBLP_v1 deezer_ego_nets DHFR DHFR_MD ENZYMES ER_MD ethanol facebook_ct1
facebook_ct2 Fingerprint FIRSTMM_DB FRANKENSTEIN github_stargazers highschool_ct1 highschool_ct2
infectious_ct1 infectious_ct2 KKI Letter-high Letter-low Letter-med malonaldehyde MCF-7 MCF-7H
mit_ct1 mit_ct2 MOLT-4 MOLT-4H Mutagenicity MSRC_9 MSRC_21 MSRC_21C naphthalene NCI109 NCI-H23
NCI-H23H OHSU OVCAR-8 OVCAR-8H P388 P388H PC-3 PC-3H Peking_1 PROTEINS_full PTC_FM PTC_FR PTC_MM
reddit_threads REDDIT-BINARY REDDIT-MULTI-12K REDDIT-MULTI-5K salicylic_acid SF-295 SF-295H SN12C
SN12CH SW-620 SW-620H SYNTHETIC SYNTHETICnew Synthie toluene Tox21_AhR_training TRIANGLES
tumblr_ct1 tumblr_ct2 twitch_egos TWITTER-Real-Graph-Partial UACC257 UACC257H uracil Yeast YeastH
ZINC_full ZINC_test ZINC_train ZINC_val
"""

_ALIASES = {"IMDB-B": "IMDB-BINARY", "IMDB-M": "IMDB-MULTI", "PTC-MR": "PTC_MR"}
_ALIASES |= {"REDDIT-B": "REDDIT-BINARY", "REDDIT-M5K": "REDDIT-MULTI-5K", "D&D": "DD"}

CATALOGUE = {entry.name: entry for entry in _ENTRIES}
"""The data sets that igsd lists, by name."""

_KNOWN = CATALOGUE | {
    name: CatalogueEntry(name, "a data set of the TU collection") for name in _OTHER_TU.split()
}
_BY_LOWER_CASE = {name.lower(): entry for name, entry in _KNOWN.items()}
_BY_LOWER_CASE |= {alias.lower(): _KNOWN[name] for alias, name in _ALIASES.items()}


def find_entry(name: str) -> CatalogueEntry | None:
    """Return what is known of the data set called ``name`` (any case, or an alias), or None."""
    return _BY_LOWER_CASE.get(name.strip().lower())


def aliases() -> dict[str, str]:
    """Return the other names under which data sets are known, with the name each stands for."""
    return dict(_ALIASES)


def unknown_name(name: str) -> DataError:
    """Return the error for a name that is in no list, with the nearest names that are."""
    close = nearest(name.upper(), [*CATALOGUE, *_ALIASES])
    return DataError(
        f"There is no data set named {name!r}. {close} A set of your own is opened by its path "
        "(in Python with igsd.open_data), or by name when the folder in IGSD_DATA holds NAME.zip "
        "or NAME/."
    )
