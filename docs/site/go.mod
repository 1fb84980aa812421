module github.com/goulfm/goulfm/docs/site

go 1.26

require (
	github.com/alecthomas/chroma/v2 v2.27.0
	github.com/stretchr/testify v1.11.1
	github.com/yuin/goldmark v1.8.7
)

require (
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/dlclark/regexp2/v2 v2.2.1 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
