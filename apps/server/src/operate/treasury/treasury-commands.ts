import { geoVaultAbi, isSolana, solanaAddressSchema, toSolanaWord } from "@geoswap/protocol";
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
import { ConfigError } from "../../config/config-error.ts";
import { configuredAssets } from "../../config/configured-assets.ts";
import { readConfig } from "../../config/read-config.ts";
import { readRelayers } from "../../money/ledger/relayers.ts";
import { type Declaration, declareFlow, readFlows } from "../../money/move/declared-flows.ts";
import { readTreasuryPause } from "../../money/move/treasury-pause.ts";
import { checkName } from "../check-name.ts";
import { withDatabase } from "../with-database.ts";
import { describeDetails, describeFlow, isSame, shownAddress, shownFlow } from "./describe-flow.ts";
import { expectMoveId } from "./expect-move-id.ts";
import { describePause } from "./pause-commands.ts";

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
	const { flows, pause } = await withDatabase(async (pool) => ({
		flows: await readFlows(pool, { limit }),
		pause: await readTreasuryPause(pool),
	}));
	if (json) console.log(JSON.stringify(flows.map(shownFlow)));
	else {
		for (const flow of flows) console.log(describeFlow(flow, config).join("\n"));
		if (pause) console.log(describePause(pause));
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
	const uuid = expectMoveId(id);
	const [flow] = await withDatabase((pool) => readFlows(pool, { limit: 1, id: uuid }));
	if (!flow) {
		console.error(`error: no declaration or move has the id ${id}; list them with: geoswapd treasury moves`);
		return 1;
	}
	if (json) console.log(JSON.stringify(shownFlow(flow)));
	else {
		console.log([...describeFlow(flow, config), ...describeDetails(flow, config)].join("\n"));
	}
	return 0;
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
