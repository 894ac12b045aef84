"""The paths that are asked without a key to recognise a platform."""

from typing import Final

RECOGNITION_PATHS: Final = ("/.well-known/litellm-ui-config", "/api/health")
"""Those of the files that come with the program. They are asked at the same time: sort what was
seen before comparing."""
