this is not Go and must not be read
