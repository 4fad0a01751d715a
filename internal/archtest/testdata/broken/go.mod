module example.test/broken
