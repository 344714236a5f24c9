import {
	type Amount,
	fromSolanaWord,
	geoVaultAbi,
	isSolana,
	solanaAddressSchema,
	toSolanaWord,
} from "@geoswap/protocol";
import {
	encodeFunctionData,
	formatUnits,
	getAddress,
	type Hex,
	isAddress,
	isAddressEqual,
	parseUnits,
} from "viem";
import type { ChainConfig } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { configuredAssets } from "../../config/configured-assets.ts";
import { readConfig } from "../../config/read-config.ts";
import { readRelayers } from "../../money/ledger/relayers.ts";
import {
	cancelDeclaration,
	type Declaration,
	declareFlow,
	type Flow,
	readFlows,
} from "../../money/move/declared-flows.ts";
import { checkName } from "../check-name.ts";
import { withDatabase } from "../with-database.ts";

type DeclareOptions = {
	chain: string;
	token: string;
	amount: string;
	by: string;
	reason: string;
	config: string;
	json?: boolean;
};

/** Declares a deposit, and prints where to send it. */
export async function depositCommand({ to, ...options }: DeclareOptions & { to?: string }): Promise<void> {
	const { declaration, chain, decimals, symbol } = readDeclaration("deposit", { ...options, holder: to });
	const id = await declare(chain, { declaration, option: "--to" });
	const address = shownAddress(chain.chainId, declaration.holder);
	if (options.json) console.log(JSON.stringify({ id, sendTo: address, ...shownFlow(declaration) }));
	else {
		const amount = formatUnits(declaration.amount, decimals);
		console.log(`${id}\nSend ${amount} ${symbol} on chain ${chain.chainId} to ${address}.`);
		console.log("It is booked as a deposit once it is final. Follow it with: geoswapd treasury moves");
	}
}

/** Declares a withdrawal, and prints what the treasury's members sign. */
export async function withdrawCommand({
	to: recipient,
	from,
	...options
}: DeclareOptions & { to: string; from?: string }): Promise<void> {
	const { declaration, chain, decimals, symbol } = readDeclaration("withdrawal", {
		...options,
		holder: from,
		recipient,
	});
	const { token, amount, holder, to } = declaration;
	const id = await declare(chain, { declaration, option: "--from" });
	const isOfVault = chain.kind === "evm" && isOwnVault(chain, holder);
	const call =
		isOfVault && to
			? {
					accessManager: chain.deployment.contracts.accessManager,
					target: getAddress(holder),
					data: encodeFunctionData({ abi: geoVaultAbi, functionName: "withdraw", args: [token, to, amount] }),
				}
			: undefined;
	if (options.json) console.log(JSON.stringify({ id, ...shownFlow(declaration), ...(call && { call }) }));
	else {
		console.log(`${id}\n${formatUnits(amount, decimals)} ${symbol} may leave on chain ${chain.chainId}.`);
		if (call) {
			console.log(`Schedule it at the AccessManager ${call.accessManager}, and execute it after the delay:`);
			console.log(`  target ${call.target}\n  data   ${call.data}`);
		}
	}
}

/** Returns the exit code: 0 if the declaration is cancelled, 1 if it is not. */
export async function cancelCommand({
	id,
	by,
	reason,
	json,
}: {
	id: string;
	by: string;
	reason: string;
	json?: boolean;
}): Promise<number> {
	const cancellation = { id: expectUuid(id), by: checkName("--by", by), reason };
	const state = await withDatabase((pool) => cancelDeclaration(pool, cancellation));
	const isCancelled = state === "cancelled";
	if (json) console.log(JSON.stringify({ id, state: state ?? null }));
	else if (isCancelled) console.log(`${id} is cancelled`);
	else if (state) console.error(`error: ${id} is ${state} and can no longer be cancelled`);
	else console.error(`error: no declaration has the id ${id}; list them with: geoswapd treasury moves`);
	return isCancelled ? 0 : 1;
}

export async function movesCommand({
	limit: text,
	config: path,
	json,
}: {
	limit: string;
	config: string;
	json?: boolean;
}): Promise<void> {
	const limit = Number(text);
	if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
		throw new ConfigError("--limit", "must be a number from 1 to 10000");
	const config = readConfig(path);
	const flows = await withDatabase((pool) => readFlows(pool, { limit }));
	if (json) console.log(JSON.stringify(flows.map(shownFlow)));
	else {
		for (const flow of flows) console.log(describe(flow, config));
		if (flows.length === 0) console.log("nothing was declared or moved");
	}
}

/** Returns the exit code: 0 if there is such a flow, 1 if not. */
export async function showMoveCommand({
	id,
	config: path,
	json,
}: {
	id: string;
	config: string;
	json?: boolean;
}): Promise<number> {
	const config = readConfig(path);
	const uuid = expectUuid(id);
	const [flow] = await withDatabase((pool) => readFlows(pool, { limit: 1, id: uuid }));
	if (!flow) {
		console.error(`error: no declaration or move has the id ${id}; list them with: geoswapd treasury moves`);
		return 1;
	}
	if (json) console.log(JSON.stringify(shownFlow(flow)));
	else {
		console.log(describe(flow, config));
		console.log(`  by ${flow.by}: ${flow.reason}`);
		if (flow.moveId) console.log(`  move ${flow.moveId}`);
		if (flow.transaction) console.log(`  transaction ${flow.transaction}`);
	}
	return 0;
}

function describe(flow: Flow, config: Config): string {
	const { id, kind, chainId, token, amount, holder, to, state, createdAt } = flow;
	const asset = configuredAssets(config).find((one) => one.chainId === chainId && isSame(one.token, token));
	const shown = asset ? `${formatUnits(amount, asset.decimals)} ${asset.symbol}` : `${amount} of ${token}`;
	const holding = shownAddress(chainId, holder);
	const way = to ? `from ${holding} to ${shownAddress(chainId, to)}` : `to ${holding}`;
	return `${createdAt.toISOString()}  ${id}  ${kind}  ${state}  ${shown} on chain ${chainId} ${way}`;
}

/** Returns a flow as JSON, which has no bigints. */
function shownFlow<Shown extends { amount: Amount; received?: Amount | undefined }>(flow: Shown) {
	const { received } = flow;
	return {
		...flow,
		amount: String(flow.amount),
		...(received !== undefined && { received: String(received) }),
	};
}

function readDeclaration(
	kind: Declaration["kind"],
	{
		chain: chainText,
		token: tokenText,
		amount: amountText,
		by,
		reason,
		config: path,
		holder: holderText,
		recipient,
	}: DeclareOptions & { holder?: string | undefined; recipient?: string },
) {
	const config = readConfig(path);
	const chain = config.chains.find((one) => String(one.chainId) === chainText);
	if (!chain) {
		const ids = config.chains.map(({ chainId }) => chainId).join(", ");
		throw new ConfigError("--chain", `${chainText} is not configured; the chains are ${ids}`);
	}
	const { chainId } = chain;
	const assets = configuredAssets(config).filter((one) => one.chainId === chainId);
	const asset = assets.find(
		({ symbol, token }) => symbol === tokenText || isSame(shownAddress(chainId, token), tokenText),
	);
	if (!asset) {
		const symbols = assets.map(({ symbol }) => symbol).join(", ");
		throw new ConfigError("--token", `${tokenText} is not offered on chain ${chainId}; it offers ${symbols}`);
	}
	const { decimals, symbol, token } = asset;
	const isAmount =
		/^\d{1,30}(\.\d+)?$/.test(amountText) && (amountText.split(".")[1] ?? "").length <= decimals;
	const amount = isAmount ? parseUnits(amountText, decimals) : 0n;
	if (amount === 0n)
		throw new ConfigError(
			"--amount",
			`must be above 0, in whole ${symbol}, with at most ${decimals} decimals`,
		);
	const vault =
		chain.kind === "evm" ? chain.deployment.contracts.vault : toSolanaWord(chain.deployment.program.vault);
	const holder =
		holderText === undefined ? vault : readAddress(kind === "deposit" ? "--to" : "--from", holderText);
	const declaration: Declaration = {
		kind,
		chainId,
		token,
		amount,
		holder,
		to: recipient === undefined ? undefined : readAddress("--to", recipient),
		by: checkName("--by", by),
		reason,
	};
	return { declaration, chain, decimals, symbol };

	function readAddress(option: string, text: string): Hex {
		if (isSolana(chainId)) {
			const parsed = solanaAddressSchema.safeParse(text);
			if (parsed.success) return toSolanaWord(parsed.data);
			throw new ConfigError(option, `${text} is not an address on Solana`);
		}
		if (!isAddress(text))
			throw new ConfigError(option, `${text} is not an address, or its checksum is wrong`);
		return getAddress(text);
	}
}

/** Writes a declaration. Throws if its holder is neither a vault nor a relayer of the chain. */
function declare(
	chain: ChainConfig,
	{ declaration, option }: { declaration: Declaration; option: string },
): Promise<string> {
	return withDatabase(async (pool) => {
		const { chainId, holder } = declaration;
		const relayers = await readRelayers(pool, chainId);
		const isKnown = isOwnVault(chain, holder) || relayers.some((relayer) => isSame(relayer, holder));
		if (!isKnown) {
			const known = relayers.map((relayer) => shownAddress(chainId, relayer)).join(", ");
			const shown = shownAddress(chainId, holder);
			throw new ConfigError(
				option,
				`${shown} is no vault and no relayer of the service on chain ${chainId}; its relayers are ${known || "not known before a worker has run"}`,
			);
		}
		return declareFlow(pool, declaration);
	});
}

function isOwnVault(chain: ChainConfig, holder: Hex): boolean {
	if (chain.kind !== "evm") return isSame(toSolanaWord(chain.deployment.program.vault), holder);
	const { vault, earlierVaults } = chain.deployment.contracts;
	return [vault, ...earlierVaults].some((own) => isAddressEqual(own, getAddress(holder)));
}

function shownAddress(chainId: number, address: Hex): string {
	return isSolana(chainId) ? fromSolanaWord(address) : getAddress(address);
}

function expectUuid(text: string): string {
	if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return text;
	throw new ConfigError("<id>", `${text} is not the id of a move; list them with: geoswapd treasury moves`);
}

function isSame(one: string, other: string): boolean {
	return one.toLowerCase() === other.toLowerCase();
}
