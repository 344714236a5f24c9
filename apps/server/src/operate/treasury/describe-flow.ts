import { type Amount, fromSolanaWord, isSolana, type Wei } from "@geoswap/protocol";
import { formatUnits, getAddress, type Hex } from "viem";
import type { Config } from "../../config/config.ts";
import { configuredAssets } from "../../config/configured-assets.ts";
import type { Flow } from "../../money/move/declared-flows.ts";
import { isOverState } from "../../money/move/treasury-moves.ts";
import { nativeDecimals } from "../../money/profit/close-day.ts";

/** Returns the lines that describe a declaration or a move in a list: what it is, and what happens next. */
export function describeFlow(flow: Flow, config: Config): string[] {
	const { id, kind, chainId, state, createdAt } = flow;
	const what = `${amountOf(flow, config)} on chain ${chainId} ${wayOf(flow, config)}`;
	return [`${createdAt.toISOString()}  ${id}  ${kind}  ${state}  ${what}`, `  ${nextStep(flow)}`];
}

/** Returns the lines that `show` adds: who wanted it and why, its transactions, and what it cost. */
export function describeDetails(flow: Flow, config: Config): string[] {
	const { chainId, moveId, transaction, gasCost, toChainId, arrivedTransaction, arrivedGasCost } = flow;
	const { by, reason, dueAt, received, state } = flow;
	const lines = [`by ${by}: ${reason}`];
	if (moveId) lines.push(`move ${moveId}`);
	if (transaction) lines.push(`transaction ${transaction} on chain ${chainId}${gasOf(chainId, gasCost)}`);
	if (arrivedTransaction && toChainId !== undefined) {
		lines.push(`arrived with ${arrivedTransaction} on chain ${toChainId}${gasOf(toChainId, arrivedGasCost)}`);
	}
	if (moveId && received !== undefined) lines.push(`received ${receivedOf(flow, received, config)}`);
	if (dueAt && !isOverState(state)) lines.push(`late from ${dueAt.toISOString()} on`);
	return lines.map((line) => `  ${line}`);
}

/** Returns what happens next to a declaration or a move, or how it ended. */
export function nextStep(
	{ kind, state, problem, toChainId = 0 }: Flow,
	nameOf = (chainId: number) => `chain ${chainId}`,
): string {
	const isDeclared = kind === "deposit" || kind === "withdrawal";
	const because = problem ? `: ${problem}` : "";
	switch (state) {
		case "queued":
			if (kind === "deposit") return "declared, and is booked once the amount has arrived and is final";
			if (kind === "withdrawal") return "declared, and is booked once it is made and final";
			return "waits for the treasurer's key to sign it";
		case "sent":
			return "signed, and waits for a block";
		case "moved":
			return kind === "bridge"
				? "left the vault, and waits for Circle's attestation"
				: "made, and waits until its block is final";
		case "attested":
			return `attested, and waits for the treasurer's key of ${nameOf(toChainId)} to sign the mint`;
		case "minting":
			return `its mint on ${nameOf(toChainId)} is signed, and waits for a block`;
		case "arrived":
			return "arrived, and waits until the blocks of both transactions are final";
		case "stuck":
			return `stuck${because}. It is still looked at; see \`geoswapd treasury retry\` and \`write-off\``;
		case "final":
			return isDeclared ? "booked" : "done";
		case "failed":
			return `failed${because}`;
		case "cancelled":
			return `cancelled${because}`;
		case "lost":
			return `written off as a loss${because}`;
	}
}

/** Returns a flow as JSON, which has no bigints. */
export function shownFlow<Shown extends { amount: Amount }>(flow: Shown): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(flow).map(([name, value]) => [name, typeof value === "bigint" ? String(value) : value]),
	);
}

export function shownAddress(chainId: number, address: Hex): string {
	return isSolana(chainId) ? fromSolanaWord(address) : getAddress(address);
}

export function isSame(one: string, other: string): boolean {
	return one.toLowerCase() === other.toLowerCase();
}

function wayOf({ kind, chainId, holder, to, toChainId, toToken }: Flow, config: Config): string {
	const holding = shownAddress(chainId, holder);
	if (kind === "deposit") return `to ${holding}`;
	if (kind === "bridge") return `from ${holding} to chain ${toChainId}`;
	if (kind === "trade" && toToken)
		return `from ${holding} for ${assetOf(config, chainId, toToken)?.symbol ?? toToken}`;
	return to ? `from ${holding} to ${shownAddress(chainId, to)}` : `from ${holding}`;
}

function amountOf({ chainId, token, amount }: Flow, config: Config): string {
	return shown(assetOf(config, chainId, token), token, amount);
}

function receivedOf({ chainId, token, toChainId, toToken }: Flow, received: Amount, config: Config): string {
	const [onChain, what] = toToken ? [toChainId ?? chainId, toToken] : [chainId, token];
	return shown(assetOf(config, onChain, what), what, received);
}

function shown(asset: { decimals: number; symbol: string } | undefined, token: Hex, amount: Amount): string {
	return asset ? `${formatUnits(amount, asset.decimals)} ${asset.symbol}` : `${amount} of ${token}`;
}

function assetOf(config: Config, chainId: number, token: Hex) {
	return configuredAssets(config).find((one) => one.chainId === chainId && isSame(one.token, token));
}

function gasOf(chainId: number, gasCost: Wei | undefined): string {
	if (gasCost === undefined) return "";
	return `, gas ${formatUnits(gasCost, nativeDecimals(chainId))} of the native token`;
}
