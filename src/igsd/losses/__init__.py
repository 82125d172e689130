"""The losses, one pure function per equation."""
