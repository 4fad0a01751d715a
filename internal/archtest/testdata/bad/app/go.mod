module example.test/bad/app

go 1.26.0

require example.test/bad v0.0.0

replace example.test/bad => ..
