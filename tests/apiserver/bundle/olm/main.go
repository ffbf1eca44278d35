// What OLM's own libraries say of a bundle and a catalog: `olm BUNDLE_FOLDER CATALOG_FOLDER`, a line for each finding.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	validator "github.com/operator-framework/api/pkg/validation/interfaces"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
)

// All but the one that pulls images, for which a registry is needed.
var validators = validator.Validators{
	validation.ClusterServiceVersionValidator,
	validation.CustomResourceDefinitionValidator,
	validation.BundleValidator,
	validation.OperatorHubV2Validator,
	validation.StandardCategoriesValidator,
	validation.StandardCapabilitiesValidator,
	validation.ObjectValidator,
	validation.AlphaDeprecatedAPIsValidator,
	validation.GoodPracticesValidator,
}

func main() {
	judgeBundle(os.Args[1])
	judgeCatalog(os.Args[2])
}

func judgeBundle(folder string) {
	bundle, err := manifests.GetBundleFromDir(folder)
	if err != nil {
		fmt.Println("bundle:", err)
		return
	}
	for _, result := range validators.Validate(bundle.ObjectsToValidate()...) {
		for _, found := range append(result.Errors, result.Warnings...) {
			fmt.Println("bundle:", found.Level, found.Detail)
		}
	}
	fmt.Printf("judged a bundle with %d CRDs\n", len(bundle.V1CRDs))
}

// As `opm validate` does.
func judgeCatalog(folder string) {
	catalog, err := declcfg.LoadFS(context.Background(), os.DirFS(folder))
	if err == nil {
		_, err = declcfg.ConvertToModel(*catalog)
	}
	if err != nil {
		fmt.Println("catalog:", err)
		return
	}
	fmt.Printf("judged a catalog with %d bundles\n", len(catalog.Bundles))
}
