import { defineConfig } from "tsdown";

/** The build of the published package. In the workspace the sources are used as they are. */
export default defineConfig({
	entry: [
		"src/index.ts",
		"src/solana.ts",
		"src/ai.ts",
		"src/agentkit.ts",
		"src/budget.ts",
		"src/share.ts",
		"src/events.ts",
		"src/receipt.ts",
		"src/file-store.ts",
		"src/pins.ts",
		"src/rescue.ts",
		"src/solana-rescue.ts",
		"src/cdp.ts",
		"src/privy.ts",
		"src/wallet-standard.ts",
		"src/web3js.ts",
		"src/program-client-core.ts",
	],
	format: "esm",
	platform: "neutral",
	target: "es2023",
	dts: { tsgo: true },
	tsconfig: "../tsconfig.build.json",
	// The agent brings these, if it uses that kind of chain. Everything else is in the package.
	deps: { neverBundle: [/^viem(\/|$)/, /^@solana\/kit(\/|$)/, /^node:/], alwaysBundle: [/.*/] },
	// Kits before 6.1 do not have this module, so the package has its own version of the two functions that it uses.
	outputOptions: { paths: { "@solana/kit/program-client-core": "./program-client-core.js" } },
	outDir: "dist",
	logLevel: "error",
});
