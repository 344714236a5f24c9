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
	audit: "unused",
};

/** Each contract that can be replaced, and the list that keeps its retired addresses. */
const earlierLists = [
	["delegate", "earlierDelegates"],
	["escrow", "earlierEscrows"],
	["vault", "earlierVaults"],
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
		return now ? forgottenOn(old, now, after) : [];
	});
}

function forgottenOn(old: ChainConfig, now: ChainConfig, { earlierAttesterSets }: Config): string[] {
	if (old.kind === "solana" || now.kind === "solana") return forgottenOnSolana(old, now);
	const { chainId } = old;
	const forgotten = earlierLists.flatMap(([current, earlier]) => {
		const address = old.deployment.contracts[current];
		const listed = [now.deployment.contracts[current], ...now.deployment.contracts[earlier]];
		return listed.includes(address)
			? []
			: `chains.${chainId}: the deployment no longer lists the ${current} ${address}, which swaps under way name; add it to ${earlier}`;
	});
	const { hash } = old.deployment.attesterSet;
	const sets = [now.deployment.attesterSet, ...earlierAttesterSets].map((set) => set.hash);
	if (sets.includes(hash)) return forgotten;
	return [
		...forgotten,
		`chains.${chainId}: the attester set ${hash} is gone, which swaps under way name; add it to earlierAttesterSets`,
	];
}

/** Solana has no list of retired accounts. */
function forgottenOnSolana(old: ChainConfig, now: ChainConfig): string[] {
	if (old.kind !== "solana" || now.kind !== "solana") return [];
	return (["escrow", "vault"] as const)
		.filter((name) => old.deployment[name] !== now.deployment[name])
		.map((name) => `solana: the deployment has another ${name}, but swaps under way name the one before`);
}
