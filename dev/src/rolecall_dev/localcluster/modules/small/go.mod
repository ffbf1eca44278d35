module rolecall.local/small

go 1.26
