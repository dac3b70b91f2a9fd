"""The version of this package, which is that of the service from whose contract it was generated."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("quartermaster-client")
except PackageNotFoundError:  # From the sources, without an installation.
    VERSION = "0"
