import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		// Files wait for chains and child processes more than they compute.
		maxWorkers: 3,
		// A test.only that was left in would pass for the whole file.
		allowOnly: false,
		projects: [
			{ test: { name: "unit", include: ["packages/*/src/**/*.test.ts", ".ci/*.test.ts"] } },
			{
				test: {
					name: "contracts",
					include: ["e2e/contracts/*.test.ts", "contracts/test/*.test.ts"],
					testTimeout: 30_000,
					hookTimeout: 60_000,
				},
			},
			{
				test: {
					name: "devnet",
					include: ["devnet/test/*.test.ts"],
					testTimeout: 60_000,
					hookTimeout: 60_000,
				},
			},
		],
	},
});
