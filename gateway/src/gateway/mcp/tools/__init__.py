"""The eleven tools: nine read, two propose and take back. None accepts, deletes or writes, whatever the token may."""
