import { expect, test } from "vitest";
import type { Config } from "./config.ts";
import { reloadProblems } from "./reload-problems.ts";

type Contracts = {
	delegate: string;
	typedDelegate: string;
	earlierDelegates: string[];
	escrow: string;
	earlierEscrows: string[];
	vault: string;
	earlierVaults: string[];
};
const contracts: Contracts = {
	delegate: "0xd1",
	typedDelegate: "0xd2",
	earlierDelegates: [],
	escrow: "0xe1",
	earlierEscrows: [],
	vault: "0xf1",
	earlierVaults: [],
};

function configOf(
	change: Record<string, unknown> = {},
	{ setHash = "0xa1", on = {} }: { setHash?: string; on?: Partial<Contracts> } = {},
): Config {
	const deployment = { contracts: { ...contracts, ...on }, attesterSet: { hash: setHash }, assets: [] };
	return {
		api: { host: "127.0.0.1", port: 1, rates: { quote: 20, build: 10 }, corsOrigins: ["https://a"] },
		database: { roles: { api: "geoswap_api" } },
		logLevel: "info",
		price: { feeBps: 10 },
		worker: { port: 2 },
		chains: [{ kind: "evm", chainId: 1, deployment }],
		earlierAttesterSets: [],
		...change,
	} as unknown as Config;
}

test("prices, limits, chains and what only workers read may change; all else is refused by its name", () => {
	const before = configOf();
	expect(reloadProblems(before, configOf())).toEqual([]);
	expect(
		reloadProblems(before, configOf({ price: { feeBps: 11 }, worker: { port: 3 }, chains: [] })),
	).toEqual([]);
	const { api } = before;
	const changed = {
		api: { ...api, port: 9, rates: { quote: 20, build: 11 }, corsOrigins: [], metrics: { port: 5 } },
		logLevel: "debug",
	};
	expect(reloadProblems(before, configOf(changed))).toEqual(
		["api.port", "api.rates.build", "api.corsOrigins", "api.metrics", "logLevel"].map(
			(field) => `${field}: has changed, and needs a restart`,
		),
	);
});

test.each([
	["delegate", "earlierDelegates"],
	["typedDelegate", "earlierDelegates"],
	["escrow", "earlierEscrows"],
	["vault", "earlierVaults"],
] as const)("a replaced %s must stay listed, since swaps under way name it", (current, earlier) => {
	const old = contracts[current];
	expect(reloadProblems(configOf(), configOf({}, { on: { [current]: "0x99" } }))).toEqual([
		`chains.1: the deployment no longer lists the ${current} ${old}, which swaps under way name; add it to ${earlier}`,
	]);
	const retired = configOf({}, { on: { [current]: "0x99", [earlier]: [old] } });
	expect(reloadProblems(configOf(), retired)).toEqual([]);
	const forgetful = configOf({}, { on: { [current]: "0x99" } });
	const kind = current === "typedDelegate" ? "delegate" : current;
	expect(reloadProblems(retired, forgetful).join()).toContain(`no longer lists the ${kind} ${old}`);
	const restored = configOf({}, { on: { [earlier]: ["0x99"] } });
	expect(reloadProblems(retired, restored)).toEqual([]);
});

test("a replaced attester set must stay listed", () => {
	expect(reloadProblems(configOf(), configOf({}, { setHash: "0xa2" }))).toEqual([
		"chains.1: the attester set 0xa1 is gone, which swaps under way name; add it to earlierAttesterSets",
	]);
	const kept = configOf({ earlierAttesterSets: [{ hash: "0xa1" }] }, { setHash: "0xa2" });
	expect(reloadProblems(configOf(), kept)).toEqual([]);
	expect(reloadProblems(kept, configOf({}, { setHash: "0xa2" })).join()).toContain(
		"attester set 0xa1 is gone",
	);
});

test("Solana's program and vault cannot be replaced by a reload, and its attester set must stay listed", () => {
	const solana = (changed: Record<string, unknown> = {}, earlier: string[] = []) => {
		const program = { address: "p", vault: "v", operator: "o", attesterSet: { hash: "0xa1" }, ...changed };
		return configOf({
			chains: [{ kind: "solana", chainId: 7, deployment: { program, assets: [] } }],
			earlierAttesterSets: earlier.map((hash) => ({ hash })),
		});
	};
	expect(reloadProblems(solana(), solana({ operator: "x" }))).toEqual([]);
	for (const name of ["address", "vault"]) {
		expect(reloadProblems(solana(), solana({ [name]: "x" }))).toEqual([
			`solana: the program has another ${name}, but swaps under way name the one before`,
		]);
	}
	const replaced = { attesterSet: { hash: "0xa2" } };
	expect(reloadProblems(solana(), solana(replaced))).toEqual([
		"solana: the attester set 0xa1 is gone, which swaps under way name; add it to earlierAttesterSets",
	]);
	expect(reloadProblems(solana(), solana(replaced, ["0xa1"]))).toEqual([]);
});
