import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";

// The lint rules that hold the import directions are patterns, and a pattern that matches nothing says nothing. So each
// direction is tried with a file that breaks it, in a copy of the layout.

const root = join(import.meta.dirname, "..");
const copy = mkdtempSync(join(tmpdir(), "geoswap-import-directions-"));
afterAll(() => rmSync(copy, { recursive: true }));
const {
	vcs: _vcs,
	plugins: _plugins,
	...config
} = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
writeFileSync(join(copy, "biome.json"), JSON.stringify(config));

type Import = [file: string, imported: string];

const allowed: Import[] = [
	["packages/protocol/src/x.ts", "./order.ts"],
	["packages/protocol/src/x.ts", "viem"],
	["contracts/deploy/x.ts", "@geoswap/protocol"],
	["devnet/src/x.ts", "@geoswap/contracts"],
	["devnet/src/x.ts", "@geoswap/protocol"],
	["e2e/contracts/x.ts", "@geoswap/devnet"],
	["e2e/contracts/x.ts", "../environment/environment.ts"],
	["e2e/black-box/x.ts", "./swap-api.ts"],
	["e2e/black-box/x.ts", "viem"],
	["packages/sdk/src/x.ts", "@geoswap/protocol"],
	["packages/sdk/src/file-store.ts", "node:fs/promises"],
	["packages/sdk/src/file-store.ts", "./swap-store.ts"],
	["packages/cli/src/x.ts", "@geoswap/sdk"],
	["packages/cli/src/x.ts", "@geoswap/sdk/file-store"],
	["apps/server/src/price/x.ts", "../chain/evm/y.ts"],
	["apps/server/src/discount/x.ts", "../chain/evm/y.ts"],
	["apps/server/src/venue/x.ts", "../price/y.ts"],
	["apps/server/src/lane/x.ts", "../durable/durable.ts"],
	["apps/server/src/swap/x.ts", "../venue/desk.ts"],
	["apps/server/src/routes/x.ts", "../swap/y.ts"],
	["apps/server/src/http/x.ts", "../openapi/y.ts"],
	["apps/server/src/routes/x.ts", "../openapi/y.ts"],
	["apps/server/src/durable/x.ts", "@restatedev/restate-sdk"],
	["apps/server/src/telemetry/x.ts", "@opentelemetry/api"],
	["apps/server/src/lane/x.ts", "../telemetry/tracer.ts"],
	["apps/server/src/main.ts", "./lane/x.ts"],
];

const refused: Import[] = [
	["packages/protocol/src/x.ts", "@geoswap/contracts"],
	["packages/protocol/src/evm/x.ts", "../../../../devnet/src/main.ts"],
	["packages/protocol/src/x.ts", "node:fs"],
	["contracts/deploy/x.ts", "@geoswap/devnet"],
	["contracts/deploy/x.ts", "../../packages/protocol/src/order.ts"],
	["devnet/src/x.ts", "@geoswap/e2e"],
	["devnet/src/x.ts", "../../contracts/deploy/main.ts"],
	["e2e/contracts/x.ts", "../../devnet/src/main.ts"],
	["e2e/cases/x.ts", "../../apps/server/src/config.ts"],
	["e2e/black-box/x.ts", "@geoswap/protocol"],
	["e2e/black-box/x.ts", "../environment/environment.ts"],
	["e2e/black-box/x.ts", "../../packages/protocol/src/order.ts"],
	["packages/sdk/src/x.ts", "node:fs"],
	["packages/sdk/src/x.ts", "@geoswap/devnet"],
	["packages/sdk/src/file-store.ts", "@geoswap/devnet"],
	["packages/cli/src/x.ts", "@geoswap/devnet"],
	["packages/cli/src/x.ts", "../../sdk/src/swap.ts"],
	["apps/server/src/chain/evm/x.ts", "../../store/y.ts"],
	["apps/server/src/store/x.ts", "../chain/evm/y.ts"],
	["apps/server/src/store/ledger/x.ts", "../../swap/y.ts"],
	["apps/server/src/price/x.ts", "../store/y.ts"],
	["apps/server/src/discount/x.ts", "../price/y.ts"],
	["apps/server/src/discount/x.ts", "../store/y.ts"],
	["apps/server/src/swap/x.ts", "../discount/y.ts"],
	["apps/server/src/openapi/x.ts", "../http/y.ts"],
	["apps/server/src/openapi/page/x.ts", "../../routes/y.ts"],
	["apps/server/src/store/x.ts", "../openapi/y.ts"],
	["apps/server/src/attest/x.ts", "../store/y.ts"],
	["apps/server/src/audit/x.ts", "../store/y.ts"],
	["apps/server/src/swap/x.ts", "../lane/y.ts"],
	["apps/server/src/lane/x.ts", "../swap/y.ts"],
	["apps/server/src/routes/x.ts", "../lane/y.ts"],
	["apps/server/src/swap/x.ts", "@restatedev/restate-sdk"],
	["apps/server/src/main.ts", "@restatedev/restate-sdk"],
	["apps/server/src/telemetry/x.ts", "../store/y.ts"],
	["apps/server/src/telemetry/x.ts", "../swap/y.ts"],
	["apps/server/src/store/x.ts", "../telemetry/tracer.ts"],
	["apps/server/src/swap/x.ts", "@opentelemetry/api"],
	["apps/server/src/main.ts", "@opentelemetry/api"],
	["apps/server/src/swap/x.ts", "@geoswap/sdk"],
];

/** The imports that the rules refuse: each in a file of its own, in as few runs of the linter as there can be. */
function lint(imports: readonly Import[]): Import[] {
	const first = imports.filter(([file], i) => imports.findIndex((other) => other[0] === file) === i);
	if (first.length === 0) return [];
	for (const [file, imported] of first) {
		mkdirSync(dirname(join(copy, file)), { recursive: true });
		writeFileSync(join(copy, file), `import { a } from "${imported}";\nexport const b = a;\n`);
	}
	const args = ["lint", "--reporter=json", "--max-diagnostics=none", "."];
	const { stdout } = spawnSync(join(root, "node_modules/.bin/biome"), args, { cwd: copy, encoding: "utf8" });
	for (const [file] of first) rmSync(join(copy, file));
	const { diagnostics } = JSON.parse(stdout) as {
		diagnostics: { category: string; location: { path: string } }[];
	};
	const others = diagnostics.filter(({ category }) => category !== "lint/style/noRestrictedImports");
	expect(others).toEqual([]);
	const named = diagnostics.map(({ location }) => location.path);
	return [
		...first.filter(([file]) => named.includes(file)),
		...lint(imports.filter((one) => !first.includes(one))),
	];
}

test("each import goes the one way that its folder may, and no other", () => {
	// A file for each, where the rules do not name it.
	const named = (imports: readonly Import[], mark: string) =>
		imports.map(([file, imported], i): Import => [file.replace(/x\.ts$/, `${mark}${i}.ts`), imported]);
	const wrong = named(refused, "y");
	const found = lint([...named(allowed, "x"), ...wrong]);
	expect(new Set(found)).toEqual(new Set(wrong));
});
