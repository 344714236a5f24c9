import { isDeepStrictEqual } from "node:util";
import type { ChainConfig } from "./chain-config.ts";
import type { Config } from "./config.ts";

/**
 * How each part of the file gets to a running API. `restart`: the part is read once, at the start. `reload`: it can
 * change while the process runs. `unused`: the API does not read it.
 */
const taken: Record<keyof Config, "restart" | "reload" | "unused"> = {
	api: "restart",
	database: "restart",
	restate: "restart",
	telemetry: "restart",
	logLevel: "restart",
	deployment: "reload",
	chains: "reload",
	attesters: "reload",
	earlierAttesterSets: "reload",
	heartbeatSeconds: "reload",
	price: "reload",
	feeDiscount: "reload",
	limits: "reload",
	worker: "unused",
	keys: "unused",
	audit: "unused",
	console: "unused",
	events: "unused",
};

/** The contracts that can be replaced, and the list that keeps their retired addresses. */
const earlierLists = [
	[["delegate", "typedDelegate"], "earlierDelegates"],
	[["escrow"], "earlierEscrows"],
	[["vault"], "earlierVaults"],
] as const;

/**
 * Returns why a running API cannot go on with `after`: fields that it reads only at its start, and contracts or
 * attesters that swaps under way still name and that would be forgotten.
 */
export function reloadProblems(before: Config, after: Config): string[] {
	return [...restartProblems(before, after), ...forgottenProblems(before, after)];
}

function restartProblems(before: Config, after: Config): string[] {
	return Object.entries(taken)
		.filter(([, how]) => how === "restart")
		.flatMap(([name]) => changedFields(name, before[name as keyof Config], after[name as keyof Config]))
		.map((field) => `${field}: has changed, and needs a restart`);
}

/** Returns the paths of the innermost fields that differ. */
function changedFields(path: string, before: unknown, after: unknown): string[] {
	if (!isObject(before) || !isObject(after)) return isDeepStrictEqual(before, after) ? [] : [path];
	const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
	return names.flatMap((name) => changedFields(`${path}.${name}`, before[name], after[name]));
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function forgottenProblems(before: Config, after: Config): string[] {
	return before.chains.flatMap((old) => {
		const now = after.chains.find(({ chainId }) => chainId === old.chainId);
		// A chain that is gone as a whole is on purpose. The workers keep it until its swaps have ended.
		return now ? forgottenOn([old, now], { before, after }) : [];
	});
}

function forgottenOn(
	[old, now]: [ChainConfig, ChainConfig],
	{ before, after }: Record<"before" | "after", Pick<Config, "earlierAttesterSets">>,
): string[] {
	if (old.kind === "solana" || now.kind === "solana") return forgottenOnSolana([old, now], { before, after });
	const { chainId } = old;
	const forgotten = earlierLists.flatMap(([names, earlier]) => {
		const { contracts } = now.deployment;
		const listed = [...names.map((name) => contracts[name]), ...contracts[earlier]];
		return [
			...names.map((name) => ({ name, address: old.deployment.contracts[name] })),
			...old.deployment.contracts[earlier].map((address) => ({ name: names[0], address })),
		]
			.filter(({ address }) => !listed.includes(address))
			.map(
				({ name, address }) =>
					`chains.${chainId}: the deployment no longer lists the ${name} ${address}, which swaps under way name; add it to ${earlier}`,
			);
	});
	const gone = forgottenSets(
		[old.deployment.attesterSet, ...before.earlierAttesterSets],
		[now.deployment.attesterSet, ...after.earlierAttesterSets],
	);
	return [...forgotten, ...gone.map((problem) => `chains.${chainId}: ${problem}`)];
}

/** Solana has no list of retired accounts. */
function forgottenOnSolana(
	[old, now]: [ChainConfig, ChainConfig],
	{ before, after }: Record<"before" | "after", Pick<Config, "earlierAttesterSets">>,
): string[] {
	if (old.kind !== "solana" || now.kind !== "solana") return [];
	const [earlier, current] = [old.deployment.program, now.deployment.program];
	const replaced = (["address", "vault"] as const)
		.filter((name) => earlier[name] !== current[name])
		.map((name) => `the program has another ${name}, but swaps under way name the one before`);
	const gone = forgottenSets(
		[earlier.attesterSet, ...before.earlierAttesterSets],
		[current.attesterSet, ...after.earlierAttesterSets],
	);
	return [...replaced, ...gone].map((problem) => `solana: ${problem}`);
}

type AttesterSetHash = Pick<Config["earlierAttesterSets"][number], "hash">;

function forgottenSets(before: readonly AttesterSetHash[], after: readonly AttesterSetHash[]): string[] {
	const hashes = after.map(({ hash }) => hash);
	return before
		.filter(({ hash }) => !hashes.includes(hash))
		.map(
			({ hash }) =>
				`the attester set ${hash} is gone, which swaps under way name; add it to earlierAttesterSets`,
		);
}
