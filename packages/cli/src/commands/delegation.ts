import { getDelegation } from "@geoswap/sdk";
import { compareDelegation } from "../compare-delegation.ts";
import { type Call, openContext } from "../context.ts";
import { findChain } from "../pinned-assets.ts";
import { readWallet } from "../wallet.ts";

export async function delegationCommand(
	call: Call,
	{ chain: text, wallet: option }: { chain: string; wallet?: string },
): Promise<void> {
	const { config, client, keys, output } = await openContext(call);
	const chain = findChain(config.pins, text);
	const wallet = await readWallet(keys, chain, option);
	const about = { chainId: chain.chainId, chain: chain.name, wallet };
	if (chain.kind === "solana") {
		return output.result({ ...about, ready: true, needed: false }, [
			["wallet", wallet],
			["ready", `yes: on ${chain.name} there is nothing to delegate`],
		]);
	}
	const state = await getDelegation(client, { chainId: chain.chainId, walletAddress: wallet });
	if (state.blocked !== undefined) {
		return output.result(
			{ ...about, ready: false, needed: true, blocked: state.blocked, ...to(state.delegatedTo) },
			[
				["wallet", wallet],
				["ready", `never: on ${chain.name} it is delegated to another provider, or is a contract`],
				...(state.delegatedTo === undefined ? [] : [["to", state.delegatedTo] satisfies [string, string]]),
				["next", "use another wallet on this chain"],
			],
		);
	}
	const { delegate, isTypedOnly } = compareDelegation(config.pins, chain.chainId, state);
	const notYet = state.delegated
		? `not now: it is delegated to an earlier contract, and its next swap from ${chain.name} signs another delegation, at no cost`
		: `not yet: its first swap from ${chain.name} signs the delegation, at no cost`;
	return output.result(
		{ ...about, ready: state.originReady, needed: true, typedOnly: isTypedOnly, ...to(delegate) },
		[
			["wallet", wallet],
			["ready", state.originReady ? `yes: it is delegated on ${chain.name}` : notYet],
			["to", `${delegate}, as pinned`],
			["accepts", isTypedOnly ? "orders as typed data only" : "orders as typed data or by personal_sign"],
		],
	);
}

function to(delegate: string | undefined) {
	return delegate === undefined ? {} : { delegate };
}
