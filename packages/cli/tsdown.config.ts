import { defineConfig } from "tsdown";

/** The build of the published command. It is JavaScript, since Node strips no types in packages. */
export default defineConfig({
	entry: { geoswap: "src/main.ts" },
	format: "esm",
	platform: "node",
	target: "node22",
	dts: false,
	tsconfig: "../../tsconfig.json",
	// The keychain's package brings a binary for each system. Everything else is in the package, so that it installs fast.
	deps: { neverBundle: [/^@napi-rs\/keyring/, /^node:/], alwaysBundle: [/.*/] },
	minify: true,
	outDir: "dist",
	logLevel: "error",
});
