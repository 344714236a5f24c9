import { defineConfig } from "vitest/config";

/** All files load the same libraries, which once per worker is enough: so none may mock a module, or keep state in one. */
const isolate = false;

export default defineConfig({
	test: {
		// Files wait for chains and child processes more than they compute.
		maxWorkers: 3,
		// A test.only that was left in would pass for the whole file.
		allowOnly: false,
		projects: [
			{
				test: {
					name: "unit",
					isolate,
					include: [
						"packages/protocol/src/**/*.test.ts",
						"apps/*/src/**/*.test.ts",
						"e2e/*.test.ts",
						"e2e/conformance/*.test.ts",
						".ci/*.test.ts",
					],
					globalSetup: ["apps/server/test/global-setup.ts"],
					testTimeout: 60_000,
					hookTimeout: 60_000,
				},
			},
			{
				test: {
					name: "sdk",
					// These mock the module of their waits, which is minutes of them.
					include: ["packages/{sdk,cli}/src/**/*.test.ts"],
					testTimeout: 60_000,
					hookTimeout: 60_000,
				},
			},
			{
				test: {
					name: "sim",
					isolate,
					include: ["apps/server/sim/**/*.test.ts"],
					globalSetup: ["apps/server/test/global-setup.ts"],
					testTimeout: 900_000,
					hookTimeout: 60_000,
				},
			},
			{
				test: {
					name: "contracts",
					isolate,
					include: ["e2e/contracts/*.test.ts", "contracts/test/*.test.ts"],
					testTimeout: 30_000,
					hookTimeout: 60_000,
				},
			},
			{
				test: {
					name: "devnet",
					isolate,
					include: ["devnet/test/*.test.ts"],
					testTimeout: 60_000,
					hookTimeout: 60_000,
				},
			},
			{
				test: {
					name: "e2e",
					isolate,
					include: ["e2e/cases/*.test.ts"],
					globalSetup: ["e2e/global-setup.ts"],
					// Stories wait for blocks nearly all the time, and all of them on the same services.
					maxWorkers: 8,
					maxConcurrency: 30,
					sequence: { groupOrder: 1 },
					testTimeout: 180_000,
					hookTimeout: 120_000,
				},
			},
			{
				test: {
					name: "agents",
					isolate,
					include: ["e2e/agents/*.test.ts"],
					globalSetup: ["e2e/global-setup.ts"],
					// Each step of theirs is a process of its own, and beside the stories they would be too much for a small machine.
					maxConcurrency: 4,
					testTimeout: 180_000,
					hookTimeout: 120_000,
				},
			},
			{
				test: {
					name: "alone",
					isolate,
					include: ["e2e/alone/*.test.ts"],
					// What is timed or counted: nothing else may run meanwhile.
					fileParallelism: false,
					sequence: { groupOrder: 2 },
					testTimeout: 300_000,
					hookTimeout: 300_000,
				},
			},
			{
				test: {
					name: "chaos",
					isolate,
					include: ["e2e/chaos/*.test.ts"],
					// Each has an environment of its own, of fifteen processes: more than two at once starve each other.
					maxWorkers: 2,
					testTimeout: 1_800_000,
					hookTimeout: 300_000,
				},
			},
		],
	},
});
