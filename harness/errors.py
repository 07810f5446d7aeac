"""The few exceptions aacbench raises on purpose; each message is one sentence for a person, with what to do."""


class AacbenchError(Exception):
    """Any error that is the input's or the environment's, not a defect in aacbench."""


class DataError(AacbenchError):
    """A data file or record that cannot be used as it is."""


class UnpackLimitError(DataError):
    """A packed file that unpacks to more than the limit."""


class UsageError(AacbenchError):
    """A request that makes no sense, such as an unknown name or an impossible parameter."""


class UnsupportedError(UsageError):
    """A method that cannot be built on a graph, at a budget or with a setting, for the reason that it gives."""


class NotFiniteError(UsageError):
    """A bound that is not a finite number, or too large to search with."""


class MissingDataError(AacbenchError):
    """A data file that is not on this machine and could not be downloaded."""


class DisagreementError(AacbenchError):
    """Two forms of one heuristic that give different bounds."""


class OverBudgetError(AacbenchError):
    """A heuristic that deploys more bytes than its budget allows."""

    def __init__(self, message: str, bytes_needed: int) -> None:
        super().__init__(message)
        self.bytes_needed = bytes_needed


class BundleError(AacbenchError):
    """A heuristic that cannot be saved as a bundle, or a bundle that cannot be loaded."""


class StoreError(AacbenchError):
    """A study folder that cannot be written to as things stand, such as on a full disk; what it holds is intact."""


class ClusterError(AacbenchError):
    """A cluster that is gone or cannot go on; what was finished on it is kept."""


class DamagedCellError(AacbenchError):
    """A stored cell that is no longer what was written."""


class NewerFormatError(AacbenchError):
    """A stored cell that this version of aacbench cannot read; it must not be written over."""


class DamagedPlanError(DataError):
    """The plan of a study that is no longer what was written."""


class LockError(AacbenchError):
    """What is on disk, or about to be run, is not what a registration was locked with."""
