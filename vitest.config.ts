import { randomInt } from "node:crypto";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

// Every random choice of a test follows from this seed. Workers inherit it.
process.env.GEOSWAP_SEED ??= String(randomInt(2 ** 31));
console.error(`GEOSWAP_SEED=${process.env.GEOSWAP_SEED} makes the same random choices again`);
const setupFiles = [join(import.meta.dirname, ".ci/seed-properties.ts")];

/** All files load the same libraries, once per worker. So none may mock a module, or keep state in one. */
const isolate = false;

/** A polled condition holds immediately, or after a pause of a busy machine, which must not fail a test. */
const expect = { poll: { timeout: 30_000 } };

/** Tests that mock modules: most of them the module of their waits, which take minutes. */
const mocking = [
	"packages/sdk/src/{file-store,file-store-full-disk,send-again,swap,swap-faults,swap-signers,swap-within-budget}.test.ts",
	"packages/cli/src/keychain.test.ts",
];

/**
 * Tests that take minutes each, and run only at full size. At landing the simulator does most of the same to its
 * chains.
 */
const long = [
	"e2e/alone/{crowd,flood,greedy}.test.ts",
	"e2e/chaos/{attester-rotation,attesters-gone,op-opens-nothing,reorg-past-finality,reorg-stories,reorgs,restore}.test.ts",
	"e2e/chaos/{chain-added,contracts-replaced,faulty-providers,image,signers,solana-closing-recipient,solana-storm,worker-deploy}.test.ts",
	"e2e/chaos/{audit-pauses,events,hostile-blocks,rebalancings,treasury-day,two-providers}.test.ts",
];
const isFull = Boolean(process.env.GEOSWAP_FULL);

export default defineConfig({
	test: {
		// Test files wait for chains and child processes more than they compute.
		maxWorkers: 3,
		// A leftover test.only would pass for the whole file.
		allowOnly: false,
		projects: [
			{
				test: {
					name: "unit",
					expect,
					setupFiles,
					isolate,
					include: [
						"packages/*/src/**/*.test.ts",
						"apps/*/src/**/*.test.ts",
						"e2e/{conformance,environment,generated,leak,measure}/*.test.ts",
						".ci/*.test.ts",
					],
					exclude: mocking,
					globalSetup: ["apps/server/test/global-setup.ts"],
					testTimeout: 60_000,
					hookTimeout: 60_000,
				},
			},
			{
				test: {
					name: "mocking",
					expect,
					setupFiles,
					include: mocking,
					testTimeout: 60_000,
					hookTimeout: 60_000,
				},
			},
			{
				test: {
					name: "vendors",
					expect,
					setupFiles,
					include: ["packages/sdk/vendors/*.test.ts"],
					testTimeout: 60_000,
					hookTimeout: 60_000,
				},
			},
			{
				test: {
					name: "sim",
					expect,
					setupFiles,
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
					expect,
					setupFiles,
					isolate,
					include: ["e2e/contracts/*.test.ts", "contracts/test/*.test.ts"],
					// At landing these tests run at the lowest priority, beside tests that need both processors.
					testTimeout: 300_000,
					hookTimeout: 300_000,
				},
			},
			{
				test: {
					name: "programs",
					expect,
					setupFiles,
					isolate,
					include: ["programs/*/test/*.test.ts"],
					// As above.
					testTimeout: 300_000,
					hookTimeout: 300_000,
				},
			},
			{
				test: {
					name: "devnet",
					expect,
					setupFiles,
					isolate,
					include: ["devnet/test/*.test.ts"],
					testTimeout: 60_000,
					hookTimeout: 60_000,
				},
			},
			{
				test: {
					name: "e2e",
					expect,
					setupFiles,
					isolate,
					include: ["e2e/cases/*.test.ts"],
					globalSetup: ["e2e/global-setup.ts"],
					// These tests wait for blocks nearly all the time, and all of them on the same services.
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
					expect,
					setupFiles,
					isolate,
					include: ["e2e/agents/*.test.ts"],
					globalSetup: ["e2e/global-setup.ts"],
					// Each step of these tests is a process, and beside the e2e cases they would be too much for a small machine.
					maxConcurrency: 4,
					testTimeout: 180_000,
					hookTimeout: 120_000,
				},
			},
			{
				test: {
					name: "alone",
					expect,
					setupFiles,
					isolate,
					include: ["e2e/alone/*.test.ts"],
					exclude: isFull ? [] : long,
					// These tests measure times or counts, so nothing else may run meanwhile.
					fileParallelism: false,
					sequence: { groupOrder: 2 },
					testTimeout: 300_000,
					hookTimeout: 300_000,
				},
			},
			{
				test: {
					name: "chaos",
					expect,
					setupFiles,
					isolate,
					include: ["e2e/chaos/*.test.ts"],
					exclude: isFull ? [] : long,
					// Each file has its own environment of fifteen processes. More than two environments at the same
					// time starve each other.
					maxWorkers: 2,
					testTimeout: isFull ? 1_800_000 : 600_000,
					hookTimeout: 300_000,
				},
			},
			{
				test: {
					name: "bad-days",
					expect,
					setupFiles,
					isolate,
					include: ["e2e/bad-days/*.test.ts"],
					// Seconds to an alarm are measured, and each file has its own environment.
					fileParallelism: false,
					sequence: { groupOrder: 3 },
					testTimeout: 1_800_000,
					hookTimeout: 900_000,
				},
			},
			{
				test: {
					name: "machines",
					expect,
					setupFiles,
					isolate,
					include: ["e2e/machines/*.test.ts"],
					// Each file has its own twenty machines.
					fileParallelism: false,
					testTimeout: 2_400_000,
					hookTimeout: 300_000,
				},
			},
		],
	},
});
