"""Train EEG decoders that work on people they have never seen.

The public names are listed in `__init__.pyi`; each is imported when it is first asked for.

>>> import censorium
>>> "CensoredClassifier" in censorium.__all__
True
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
