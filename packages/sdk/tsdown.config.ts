import { defineConfig } from "tsdown";

/** What is published. In the workspace the sources are used as they are. */
export default defineConfig({
	entry: ["src/index.ts", "src/solana.ts", "src/file-store.ts"],
	format: "esm",
	platform: "neutral",
	target: "es2023",
	dts: { tsgo: true },
	tsconfig: "../tsconfig.build.json",
	// An agent brings these, if it uses that kind of chain. All else is in the package.
	deps: { neverBundle: [/^viem(\/|$)/, /^@solana\/kit(\/|$)/, /^node:/], alwaysBundle: [/.*/] },
	outDir: "dist",
	logLevel: "error",
});
