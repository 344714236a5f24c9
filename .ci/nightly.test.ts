import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const read = (path: string) => readFileSync(join(import.meta.dirname, "..", path), "utf8");

test("every part of the full run runs each night", () => {
	const [, parts = ""] = /^full_parts="(.+)"$/m.exec(read(".ci/run")) ?? [];
	const { jobs } = parse(read(".github/workflows/nightly.yml"));
	expect(jobs.run.strategy.matrix.part).toEqual(parts.split(" "));
});
