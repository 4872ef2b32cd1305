"""From a capture or a ping log to the cause, the link, and the remedy worth deploying."""
