import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";

// The lint rules for import directions are patterns, and a pattern that matches nothing reports nothing. So each
// direction is tried with a file that violates it, in a copy of the layout.

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
	["packages/keys/src/x.ts", "@geoswap/protocol"],
	["packages/keys/src/backend/x.ts", "node:fs"],
	["apps/signer/src/policy/x.ts", "../read/evm-node.ts"],
	["apps/signer/src/x.ts", "@geoswap/keys/open-signers"],
	["apps/signer/src/x.ts", "@geoswap/protocol"],
	["apps/signer/src/x.ts", "./server/start-signer-server.ts"],
	["packages/sdk/src/x.ts", "@geoswap/protocol"],
	["packages/sdk/src/file-store.ts", "node:fs/promises"],
	["packages/sdk/src/file-store.ts", "./swap-store.ts"],
	["packages/cli/src/x.ts", "@geoswap/sdk"],
	["packages/cli/src/x.ts", "@geoswap/sdk/file-store"],
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
	["apps/signer/src/x.ts", "@geoswap/server"],
	["apps/signer/src/x.ts", "@geoswap/contracts"],
	["apps/signer/src/x.ts", "@geoswap/sdk/file-store"],
	["apps/signer/src/x.ts", "../../server/src/telemetry/log.ts"],
	["apps/signer/src/policy/x.ts", "../../../server/src/chain/evm/connect-chain.ts"],
	["apps/signer/src/policy/x.ts", "../../../../packages/keys/src/signer.ts"],
	["apps/signer/src/x.ts", "../test/plain-order.ts"],
	["packages/keys/src/x.ts", "@geoswap/sdk"],
	["packages/keys/src/x.ts", "../../../apps/server/src/config/config.ts"],
	["packages/sdk/src/x.ts", "node:fs"],
	["packages/sdk/src/x.ts", "@geoswap/devnet"],
	["packages/sdk/src/file-store.ts", "@geoswap/devnet"],
	["packages/cli/src/x.ts", "@geoswap/devnet"],
	["packages/cli/src/x.ts", "../../sdk/src/swap.ts"],
];

/** The rooms that each room of the server may import beside itself and protocol, as its rule in biome.json lists them. */
const roomsOf: Record<string, string[]> = {
	process: words(
		"api attester audit chain config console database deny desk durable follow job lane money operate preflight round signer swap telemetry treasury watch webhook",
	),
	operate: words(
		"api attester audit chain config database deny desk durable job money preflight round signer swap telemetry treasury watch",
	),
	console: words("api config database operate swap telemetry watch"),
	watch: words("api audit config database desk swap telemetry"),
	preflight: words("chain config database signer swap"),
	api: words("chain config database deny desk durable job money swap telemetry webhook"),
	round: words("chain config database desk durable job money swap telemetry"),
	lane: words("chain config database deny durable job money signer swap telemetry"),
	follow: words("chain database durable job money swap telemetry"),
	deny: words("config telemetry"),
	desk: words("chain config swap telemetry"),
	job: words("database money swap"),
	money: words("database swap"),
	webhook: words("config database swap telemetry"),
	treasury: words("chain config database desk durable money swap telemetry"),
	swap: words("config database"),
	attester: words("chain config signer telemetry"),
	signer: words("chain config telemetry"),
	audit: [],
	durable: words("telemetry"),
	telemetry: words("config"),
	config: words("chain"),
	chain: [],
	database: [],
};
/** The rooms that open keys or sign with them. They may import all of the package with the keys. */
const roomsWithKeys = words("process operate preflight lane attester signer");
/** The rooms that may import its checks of signatures. */
const roomsThatVerify = words("api round chain");
const rooms = Object.keys(roomsOf);
const source = "apps/server/src";

/** Imports of every room from every other one, from its own folder and from a folder in it. */
const betweenRooms = rooms.flatMap((room) =>
	rooms
		.filter((other) => other !== room)
		.flatMap((other) => {
			const isAllowed = roomsOf[room]?.includes(other) ?? false;
			const imports: Import[] = [
				[`${source}/${room}/${other}-x.ts`, `../${other}/y.ts`],
				[`${source}/${room}/part/${other}-x.ts`, `../../${other}/y.ts`],
			];
			return imports.map((one) => ({ isAllowed, one }));
		}),
);
const toKeys = rooms.flatMap((room) => {
	const opens = roomsWithKeys.includes(room);
	const tried: { isAllowed: boolean; one: Import }[] = [
		{ isAllowed: opens, one: [`${source}/${room}/keys-x.ts`, "@geoswap/keys/open-signers"] },
		{
			isAllowed: opens || roomsThatVerify.includes(room),
			one: [`${source}/${room}/signature-x.ts`, "@geoswap/keys/signature/is-low-s"],
		},
		{
			isAllowed: opens || room === "config" || roomsOf[room]?.includes("config") === true,
			one: [`${source}/${room}/settings-x.ts`, "@geoswap/keys/config/key-settings"],
		},
	];
	return tried;
});
const ofRooms = (isAllowed: boolean) =>
	[...betweenRooms, ...toKeys].filter((tried) => tried.isAllowed === isAllowed).map(({ one }) => one);

/** Imports that only some rooms may make, and imports that no room may make. */
const refusedInRooms = rooms.flatMap((room): Import[] => [
	[`${source}/${room}/test-x.ts`, "../../test/y.ts"],
	[`${source}/${room}/sim-x.ts`, "../../sim/y.ts"],
	...(room === "operate" ? [] : [[`${source}/${room}/sdk-x.ts`, "@geoswap/sdk"] as Import]),
	[`${source}/${room}/main-x.ts`, "../main.ts"],
	...(room === "durable" ? [] : [[`${source}/${room}/engine-x.ts`, "@restatedev/restate-sdk"] as Import]),
	...(room === "telemetry" ? [] : [[`${source}/${room}/api-x.ts`, "@opentelemetry/api"] as Import]),
]);

const allowedInServer: Import[] = [
	["apps/server/src/main.ts", "./process/y.ts"],
	["apps/server/src/durable/x.ts", "@restatedev/restate-sdk"],
	["apps/server/src/telemetry/x.ts", "@opentelemetry/api"],
	["apps/server/src/swap/decide/x.ts", "../facts/y.ts"],
	["apps/server/src/api/route/x.ts", "../seal/y.ts"],
	["apps/server/src/operate/chain/x.ts", "@geoswap/contracts"],
	["apps/server/src/operate/chain/add/x.ts", "@geoswap/sdk"],
	["apps/server/src/operate/chain/add/x.ts", "@geoswap/sdk/file-store"],
];
const refusedInServer: Import[] = [
	["apps/server/src/main.ts", "./lane/y.ts"],
	["apps/server/src/swap/decide/x.ts", "../record/y.ts"],
	["apps/server/src/process/x.ts", "@geoswap/contracts"],
	["apps/server/src/swap/facts/x.ts", "pg"],
	["apps/server/src/swap/decide/x.ts", "../../database/y.ts"],
];

/**
 * Returns the imports that the rules refuse. Each is put into its own file, in as few runs of the linter as possible.
 */
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

test("lint refuses every import that a folder may not make, and accepts the others", () => {
	// Each import gets its own file, unless the rules are for a particular file.
	const named = (imports: readonly Import[], mark: string) =>
		imports.map(([file, imported], i): Import => [file.replace(/x\.ts$/, `${mark}${i}.ts`), imported]);
	const wrong = [
		...named(refused, "y"),
		...named(refusedInServer, "y"),
		...ofRooms(false),
		...refusedInRooms,
	];
	const right = [...named(allowed, "x"), ...named(allowedInServer, "x"), ...ofRooms(true)];
	const found = lint([...right, ...wrong]);
	expect(new Set(found)).toEqual(new Set(wrong));
});

function words(text: string): string[] {
	return text.split(" ");
}
