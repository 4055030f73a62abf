"""Settings of your own datasets, of variants of catalog datasets, and of entries of the catalog."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from fairfold.core.settings import Count, Name, NonEmpty, NonNegative, Settings, SparseSettings, Text, Unique
from fairfold.datasets import hierarchies
from fairfold.datasets.categories import Encoding
from fairfold.datasets.dataset import LabelsAre, Task
from fairfold.features.roles import Role

Part = Literal["weak-labels", "splitting", "cross-testing", "win-percentage", "ecoc"]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class LabelFilter(SparseSettings):
    """Bounds on the samples of a label. Labels outside of them are dropped."""

    min_positives: NonNegative | None = None
    """Minimum number of samples that have the label."""

    min_negatives: NonNegative | None = None
    """Minimum number of samples that do not have it."""


class Samples(SparseSettings):
    """Samples of a series matrix or MAGE-TAB archive that are used. All are used without it."""

    table: Text | None = None
    """Path of the sample table (`.sdrf.txt`), required for `mage-tab`."""

    only: Annotated[dict[str, Text | Annotated[list[Text], NonEmpty]], NonEmpty] | None = None
    """Characteristics that samples must have, each with a value or a list of values. A `*` stands for any text."""


class Source(SparseSettings):
    """How a table is read, for your own datasets and for those of the catalog."""

    header: bool | None = None
    """Whether the first line of a CSV file names the columns; true if left out."""

    missing_value: str | None = None
    """Text of a missing feature, in addition to an empty cell, `?`, `NA`, `n/a`, `#N/A`, `NaN`, `null`, `none`, `nil`
    and `-`."""

    missing_values: Literal["error", "drop-features"] | None = None
    """Treatment of missing features in a series matrix or MAGE-TAB matrix. `error`, the default, refuses the file.
    `drop-features` leaves out the probes that lack a number."""

    quantity: Text | None = None
    """Columns of a MAGE-TAB matrix to read, by its second header line. Needed if the matrix has several kinds."""

    samples: Samples | None = None

    label_filter: LabelFilter | None = None


class Characteristic(SparseSettings):
    """Characteristic of the samples that holds the class, for a `task` of one label.

    A series matrix contains it as `key: value`, and a MAGE-TAB archive as a column of its sample table.
    """

    key: Text
    """The characteristic, as the file names it."""

    classes: Annotated[dict[str, Text], Field(min_length=2)]
    """Class of each value of the characteristic. A `*` stands for any text, and the first matching value counts."""

    missing: Literal["error", "drop"] | None = None
    """Treatment of samples without a value. `error`, the default, refuses the file. `drop` leaves them out."""


class LabelColumns(SparseSettings):
    """Columns that hold the labels."""

    prefix: Text | None = None
    """Start of the names of label columns."""

    columns: Annotated[list[str], Unique, NonEmpty] | None = None
    """Names of the label columns."""

    names: Annotated[list[Text], Unique, NonEmpty] | None = None
    """Names of label columns, prefixes, and patterns such as `label_*`, mixed. An exact name is only that column."""

    last: Count | None = None
    """Number of label columns at the end of the table."""

    xml: Text | None = None
    """Path of a MULAN label list."""

    column: str | int | None = None
    """Name or position of the column with the class, for a `task` of one label. The first column is 0, the last -1."""

    everything: Literal[True] | None = None
    """`true` if the file contains only labels."""

    @model_validator(mode="after")
    def _check_ways(self) -> Self:
        known = set(type(self).model_fields) - {*hierarchies.KEYS, "presence"}
        if len(ways := sorted(self.model_fields_set & known)) != 1:
            raise ValueError(f"found {', '.join(ways) or 'none'}. Give one of {', '.join(sorted(known))}.")
        return self


class OwnLabels(LabelColumns):
    """Location of the labels, and their hierarchy.

    Exactly one of `prefix`, `columns`, `names`, `last`, `xml`, `table`, `column`, `characteristic` and `everything`
    gives the location.
    """

    table: Text | None = None
    """Path of a second table with the `id` and a column for each label. Both tables need the same ids, in any order."""

    characteristic: Characteristic | None = None

    hierarchy: Text | None = None
    """Path of [a hierarchy of the labels](/how-it-works/missing-labels.md#hierarchies): an ontology in OBO
    format, whose terms match labels by id or name, or a table with a label and one of its parents in each row."""

    presence: Literal[True] | None = None
    """`true` if the labels are counts or amounts, of which every number above 0 is read as 1."""

    propagate: bool | None = None
    """Whether implied labels that the data lack are added. Such data are refused if it is false or left out."""

    @model_validator(mode="after")
    def _check_hierarchy(self) -> OwnLabels:
        of_hierarchy = self.model_fields_set & set(hierarchies.KEYS)
        if of_hierarchy and self.hierarchy is None:
            raise ValueError(f"found {', '.join(sorted(of_hierarchy))} without a hierarchy. Name its file.")
        return self


class HoldOut(SparseSettings):
    """[Evaluation by time](/guide/groups-dates-weights.md#dates) in place of `folds.method`; needs `dates`.

    Models learn from earlier samples and are tested on later ones.
    """

    after: Any = None
    """Date or number. Later samples are tested. A list in ascending order starts several test periods."""

    n_splits: Count | None = None
    """Number of test periods with equal numbers of samples, instead of `after`."""


class OwnDataset(Source):
    """A dataset of your own."""

    path: Text
    """Path of your file."""

    labels: OwnLabels

    format: Literal["csv", "arff", "svmlight", "npz", "series-matrix", "mage-tab"] = "csv"
    """File format. `csv` reads text tables, Parquet, Feather and Excel workbooks with one sheet. `npz` is a SciPy
    sparse matrix of labels. `series-matrix` and `mage-tab` are gene expression of the Gene Expression Omnibus and
    ArrayExpress. ARFF and svmlight files are recognized by their content if the format is `csv`."""

    title: str | None = None
    """Name of the dataset in tables; the ID if left out."""

    labels_are: LabelsAre = "unknown"
    """State of the labels. `complete`: somebody checked every 0, and cells that nobody checked are empty. Trials then
    hide equal shares of positives and zeros, which become unmeasured. `unknown`: scores and models take labels as they
    are, and the answer bounds how many positives may be missing. `incomplete`: some zeros are missing positives. Their
    share is estimated, and scores, models with a `+` and imputation are corrected for it."""

    missing_rate: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Known share of positives that are missing, such as 0.3, instead of an estimate. It implies `incomplete`."""

    task: Task = "multilabel"
    """Kind of labels. The weak-label study needs `multilabel`."""

    id: Text | None = None
    """Column that identifies the samples and is not a feature. Missing or repeated ids are refused. For `csv` and
    `arff`."""

    groups: Text | None = None
    """Column of the groups of samples, such as patients. A group is never divided between folds or by a model that
    holds out training samples. Every row needs a group. Fewer groups than `folds.n_splits` reduce the number of
    folds."""

    groups_by_scaffold: Text | None = None
    """Column of molecules (SMILES) instead of `groups`: molecules with the same rings and links between them
    (Bemis-Murcko scaffold) are one group, and molecules without a ring are another. The column remains a feature."""

    folds: Text | None = None
    """Column of your own folds, used in place of `folds.method`. For a hold-out, write `train` and `test`; columns
    named `is_test` or `is_train` may contain 0 and 1, or true and false. Every row needs a value, and `folds.n_repeats`
    must be 1. Comparisons of splitters and of repeated splits make their own folds."""

    weights: Text | None = None
    """Column of positive sample weights. They count in training, calibration, model choice and scores. A model without
    support for weights gets a row with that reason. Folds, hidden labels, label frequencies and thresholds ignore
    them."""

    dates: Text | None = None
    """Column of dates, such as 2021-01-31 (ISO 8601), or of numbers, such as years; needs `hold_out`."""

    day_first: bool | None = None
    """Whether `dates` such as 31/12/2021 are read with the day before the month. Otherwise they are refused."""

    hold_out: HoldOut | None = None

    coordinates: Annotated[list[Text], Field(min_length=2, max_length=2)] | None = None
    """Columns of latitude and longitude in degrees, by which `weak_labels.elsewhere` compares samples. They are
    features only if `features` declares a role for them. Every row needs both."""

    ignore: Annotated[list[Text], Unique] | None = None
    """Columns to leave out, by name or by a pattern such as `meta_*`. For `csv` and `arff`."""

    categorical: Encoding | None = None
    """Encoding of all text columns before the study, for columns with at most 100 values. Without it, [each training
    part makes features](/guide/text-categories-dates.md) of texts, categories and dates; nominal attributes of ARFF
    files become `one-hot`. `one-hot` makes a 0/1 feature `column=value` for each value. `ordinal` numbers the sorted
    values. `as-is` passes a category to LightGBM and HistGB, and is one-hot elsewhere. For `csv` and `arff` with
    several labels."""

    features: dict[Text, Role | Annotated[list[Text], Unique, NonEmpty]] | None = None
    """Roles of columns that are not found right: `number`, `boolean`, `category`, `short text`, `text`, `date`,
    `molecule`, `identifier` or `constant`. A list is a category with the order of its values."""

    @model_validator(mode="after")
    def _check_missing_rate(self) -> Self:
        if self.missing_rate is not None:
            if self.labels_are == "complete":
                raise ValueError(
                    "found missing_rate with labels_are: complete. Leave out one of them, or write incomplete."
                )
            self.labels_are = "incomplete"  # A dump of the configuration contains the default, unknown.
        return self


LabelRows = Annotated[list[Annotated[list[NonNegative], Field(min_length=2, max_length=2)]], NonEmpty]


class Variant(SparseSettings):
    """A variant of a catalog dataset, with other `parameters`, `label_filter`, `label_rows` or `folds`."""

    of: Name
    """ID of the catalog dataset."""

    title: str | None = None
    """Name of the variant in tables; that of the catalog if left out."""

    parameters: dict[str, Any] | None = None
    """Parameters of a generated dataset, by the names of its function's arguments in `fairfold.datasets.generate`.
    Other parameters keep the value of the catalog."""

    label_filter: LabelFilter | None = None
    """Bounds that replace those of the catalog. `{}` keeps all labels."""

    label_rows: LabelRows | None = None
    """Order of the rows of the labels, if they and the features are in different orders in the file: ranges of rows as
    `[start, stop]` from 0, one after the other. A start above the stop counts down. `fairfold audit` prints them."""

    folds: Literal["published"] | None = None
    """`published` trains and tests on the published parts in place of `folds.method`. `folds.n_repeats` must be 1."""

    @model_validator(mode="after")
    def _check_change(self) -> Variant:
        if self.model_fields_set == {"of"}:
            raise ValueError(f"found only of, {self.of!r}, but at least one change is needed. Add one.")
        return self


class Data(Settings):
    """Sources of data."""

    mirrors: list[Text] = []
    """Folders that are searched before the cache and the web, with files at `<dataset id>/<file name>`. The environment
    variable `FAIRFOLD_MIRROR` adds more, separated by `:`."""

    cache: str | None = None
    """Folder of downloaded files. `null` is the cache folder of the platform."""

    offline: bool = False
    """Whether downloads are forbidden."""

    unavailable: Literal["stop", "skip"] = "stop"
    """Reaction to a catalog dataset that is in no mirror, not in the cache and cannot be downloaded. `skip` runs the
    study without it; `tables/unavailable.csv` and the report list the parts that lack it. A wrong checksum or an
    interrupted download is always an error."""

    strict: bool = False
    """Whether an error of the audit stops the study. Otherwise it stands first in the answer."""

    set_aside: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Share of the samples of each dataset of `weak_labels` and `final` that is set aside before everything else. The
    final model is not fitted to them, and [certifies its own decisions](/guide/decide-with-a-guarantee.md) by them.
    Whole groups are set aside at random, or whole test periods, the latest ones."""

    labels_are: LabelsAre = "unknown"
    """State of the labels of all datasets of the catalog; see `own`. The comparison of imputation methods in
    `config/paper.yaml` declares them `incomplete`, as the paper assumes at all missing rates."""

    left_out: dict[str, str] = {}
    """Excluded datasets by id, each with the reason. `skip` adds to them."""

    own: dict[Name, OwnDataset] = {}
    """Your datasets by id; see [run my table](/guide/run-my-table.md)."""

    variants: dict[Name, Variant] = {}
    """[Variants of catalog datasets](/reference/datasets.md#variants) by id."""


class Cutoff(Settings):
    """Time limit of events. Samples without an event and with a shorter follow-up are left out."""

    time: Text
    """Key of the time of the event or of the follow-up."""

    last: float
    """Last time that counts, in the unit of the file."""

    without: Text
    """Class without events."""


class CatalogCharacteristic(Characteristic):
    """Characteristic that holds the class, which may have a time limit."""

    cutoff: Cutoff | None = None


class Drawn(Settings):
    """Classes drawn at random with equal frequencies, for samples of gene expression."""

    classes: Annotated[list[Text], Unique, Field(min_length=2)]
    """Names of the classes."""

    name: Text
    """Name of the draw. The same name gives the same classes."""


class CatalogLabels(LabelColumns):
    """Location of the labels of a catalog dataset, by exactly one key."""

    per_class: Annotated[list[str], Unique, Field(min_length=2)] | None = None
    """Variables of a `.mat` file, each a matrix of the samples of one class."""

    object: str | None = None
    """R object with the class of each sample."""

    characteristic: CatalogCharacteristic | None = None

    drawn: Drawn | None = None


class CatalogFile(SparseSettings):
    """A file of a dataset and its checksum."""

    name: Name
    """Name of the file in mirrors and in the cache."""

    urls: Annotated[list[Annotated[str, Field(pattern="^https?://")]], NonEmpty]
    """Addresses, tried in this order."""

    size: Count | None = None
    """Size in bytes."""

    sha256: Sha256 | None = None
    """SHA-256 of the content."""

    git_blob: Annotated[str, Field(pattern="^[0-9a-f]{40}$")] | None = None
    """SHA-1 that git gives the file."""


class Generator(SparseSettings):
    """Function of `fairfold.datasets.generate` that makes a dataset."""

    function: str
    """Name of the function."""

    parameters: dict[str, Any] | None = None
    """Arguments of the function."""


class Sizes(SparseSettings):
    """Numbers of samples, features and labels."""

    n_samples: Count | None = None
    """Number of samples."""

    n_features: NonNegative | None = None
    """Number of features, which may be columns of text or numbers."""

    n_labels: Count | None = None
    """Number of labels, or of classes for a multiclass or binary task."""


class Expected(Sizes):
    """Shape after the label filter, checked when the dataset is prepared."""

    label_density: Annotated[float, Field(ge=0, le=1)] | None = None
    """Mean of the label matrix, to three decimals."""


class Published(Sizes):
    """Published numbers of the file before the label filter, checked when the dataset is prepared."""

    source: Text
    """Publication with the numbers."""

    label_cardinality: Annotated[float, Field(ge=0)] | None = None
    """Mean number of positives of a sample, to two decimals."""


class PublishedSplit(Settings):
    """Published split into a training and a test part."""

    n_train: Count
    """Number of training samples, which are the first ones of the files."""

    source: Text
    """Origin of the split."""


class CatalogEntry(Source):
    """A dataset of the catalog, `resources/datasets.yaml`."""

    id: Name
    """Name of the dataset in the configuration and in results."""

    title: str
    """Name of the dataset in tables."""

    task: Task
    """Kind of labels."""

    format: Literal["csv", "arff", "mat", "rdata", "npz", "series-matrix", "mage-tab", "generated"]
    """File format, or `generated` for data without files."""

    categorical: Literal["one-hot", "ordinal"] | None = None
    """Encoding of text columns. Without it, text columns are refused."""

    folder: Name | None = None
    """Folder of the files in mirrors and in the cache, for datasets that share a source; the id if left out."""

    files: Annotated[list[CatalogFile], NonEmpty] | None = None
    """Files whose rows are stacked in this order, except label lists and sample tables."""

    generator: Generator | None = None

    labels: CatalogLabels | None = None

    hierarchical: bool | None = None
    """Whether the generator makes a hierarchy of the labels."""

    expected: Expected | None = None

    published: Published | None = None

    split: PublishedSplit | None = None

    label_rows: LabelRows | None = None
    """Order of the rows of the labels, as in `data.variants`, for files that have them in another order."""

    citation: str
    """Publication of the dataset."""

    license: str
    """License of the dataset."""

    used_by: Annotated[list[Part], Unique] | None = None
    """Parts of the study that use the dataset."""

    @model_validator(mode="after")
    def _check_source(self) -> CatalogEntry:
        needed = {"generator"} if self.format == "generated" else {"files", "labels"}
        if missing := sorted(needed - self.model_fields_set):
            raise ValueError(f"missing {' and '.join(missing)}, which the format {self.format!r} needs. Add it.")
        return self
