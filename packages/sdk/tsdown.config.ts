import { defineConfig } from "tsdown";

/** The build of the published package. In the workspace the sources are used as they are. */
export default defineConfig({
	entry: [
		"src/index.ts",
		"src/solana.ts",
		"src/ai.ts",
		"src/budget.ts",
		"src/events.ts",
		"src/receipt.ts",
		"src/file-store.ts",
		"src/rescue.ts",
	],
	format: "esm",
	platform: "neutral",
	target: "es2023",
	dts: { tsgo: true },
	tsconfig: "../tsconfig.build.json",
	// The agent brings these, if it uses that kind of chain. Everything else is in the package.
	deps: { neverBundle: [/^viem(\/|$)/, /^@solana\/kit(\/|$)/, /^node:/], alwaysBundle: [/.*/] },
	outDir: "dist",
	logLevel: "error",
});
