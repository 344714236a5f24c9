import { execFile } from "node:child_process";
import {
	cpSync,
	globSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import config from "../vitest.config.ts";

const root = join(import.meta.dirname, "..");

/** Runs `.ci/run unit` in a repository that has only this test. */
async function runOnly(testFile: string, { seed }: { seed?: string } = {}) {
	const folder = mkdtempSync(join(tmpdir(), "geoswap-second-run-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	mkdirSync(join(folder, ".ci"));
	for (const file of ["run", "seed-properties.ts"])
		cpSync(join(root, ".ci", file), join(folder, ".ci", file));
	symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
	mkdirSync(join(folder, ".toolchain/node_modules/.bin"), { recursive: true });
	// The versions of Node and pnpm are not under test.
	writeFileSync(join(folder, ".toolchain/node_modules/.bin/pnpm"), "#!/bin/sh\necho 12.0.0\n", {
		mode: 0o755,
	});
	const projects = ["unit", "mocking"].map((name) => ({
		test: { name, include: [`${name}.test.ts`], setupFiles: [".ci/seed-properties.ts"] },
	}));
	writeFileSync(
		join(folder, "vitest.config.ts"),
		`export default ${JSON.stringify({ test: { projects } })};`,
	);
	writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
	writeFileSync(join(folder, "unit.test.ts"), testFile);
	const { GEOSWAP_SEED: _, VITEST: __, ...inherited } = process.env;
	const env = {
		...inherited,
		PATH: `${dirname(process.execPath)}:${inherited.PATH}`,
		...(seed !== undefined && { GEOSWAP_SEED: seed }),
	};
	return new Promise<{ code: number; output: string }>((resolve) => {
		execFile("bash", [".ci/run", "unit"], { cwd: folder, env }, (error, stdout, stderr) =>
			resolve({ code: error ? Number(error.code) : 0, output: stderr + stdout }),
		);
	});
}

/** A test that fails for every seed that is not 1, and prints what it was run with. */
const failsForItsSeed = `
import fc from "fast-check";
import { test } from "vitest";
test("a random test", () => {
	const [chosen] = fc.sample(fc.nat(), 1);
	console.log(["chosen", process.env.GEOSWAP_SEED, chosen].join(" "));
	if (process.env.GEOSWAP_SEED !== "1") throw new Error("fails for this seed");
});`;

/** A test that fails the first time only, as on a machine that stalled. */
const failsOnce = `
import { existsSync, writeFileSync } from "node:fs";
import { test } from "vitest";
test("a stalled test", () => {
	if (existsSync("ran")) return;
	writeFileSync("ran", "");
	throw new Error("the machine stalled");
});`;

test("a random test that failed makes the same choices in the second run, and fails the landing again", async () => {
	const { code, output } = await runOnly(failsForItsSeed);
	const choices = [...output.matchAll(/chosen (\d+) (\d+)/g)].map(([choice]) => choice);
	expect(choices, output).toHaveLength(2);
	expect(new Set(choices).size).toBe(1);
	expect(output).toContain("--- second run: vitest");
	const [, seed] = choices[0]?.split(" ") ?? [];
	expect(output).toContain(`GEOSWAP_SEED=${seed} makes the same random choices again`);
	expect(output.trimEnd().split("\n").at(-1)).toBe("0 passed, 1 failed");
	expect(code).toBe(1);
});

test("a given seed is the one that tests run with", async () => {
	const { code, output } = await runOnly(failsForItsSeed, { seed: "1" });
	expect(output).toMatch(/chosen 1 \d+/);
	expect(code, output).toBe(0);
});

test("a test that fails only once passes, and is listed as passed only in the second run", async () => {
	const { code, output } = await runOnly(failsOnce);
	expect(output).toMatch(/passed only in the second run:[\s\S]*a stalled test/);
	expect(code, output).toBe(0);
});

test("every project gives properties the seed of the run", () => {
	const { projects = [] } = config.test ?? {};
	expect(projects.length).toBeGreaterThan(10);
	const setupFiles = [join(import.meta.dirname, "seed-properties.ts")];
	for (const project of projects) expect(project).toMatchObject({ test: { setupFiles } });
});

test("no test uses Math.random, which has no seed", () => {
	const files = globSync("{apps,packages,e2e,devnet,contracts}/**/*.test.ts", {
		cwd: root,
		exclude: (name) => name.includes("node_modules"),
	});
	expect(files.length).toBeGreaterThan(200);
	const choosing = files.filter((file) => readFileSync(join(root, file), "utf8").includes("Math.random()"));
	expect(choosing).toEqual([]);
});
