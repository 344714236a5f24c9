import { CliError } from "../cli-error.ts";
import { type Call, openConfig, openContext } from "../context.ts";
import type { Line } from "../output.ts";
import { notSent, openPayer } from "../payer.ts";
import { findChain, type PinnedChain } from "../pinned-assets.ts";
import { readEndpoints } from "../read-endpoints.ts";
import { readEvmAccount } from "../read-keys.ts";
import { endpointOf, withEvmNode } from "../with-evm-node.ts";

type Removed = { wallet: string; isRemoved: boolean; txHash?: string; isRevoked?: boolean };

/** Removes the wallet's delegation on a chain, by the service at no cost or by a transaction without the service. */
export async function undelegateCommand(
	call: Call,
	{ chain: text, rpc, ownTransaction }: { chain: string; rpc?: string[]; ownTransaction?: boolean },
): Promise<void> {
	const { config } = await openConfig(call);
	const chain = findChain(config.pins, text);
	if (chain.kind === "solana") {
		throw new CliError(`On ${chain.name} wallets are not delegated, so there is nothing to remove.`, {
			code: "USAGE",
			section: "exit-codes",
		});
	}
	const { wallet, isRemoved, txHash, isRevoked } = ownTransaction
		? await removeAlone(call, { chain, rpc: rpc ?? [] })
		: await removeByService(call, chain);
	await call.output.result(
		{ chainId: chain.chainId, chain: chain.name, wallet, delegated: false, isRemoved, txHash, isRevoked },
		[
			["wallet", `${wallet} on ${chain.name}`],
			["delegated", isRemoved ? "no longer" : "no: there was nothing to remove"],
			...(txHash === undefined ? [] : [["sent", txHash] satisfies Line]),
			...(isRevoked === false
				? [["mandates", "not revoked: the delegate is not the service's account"] satisfies Line]
				: []),
		],
	);
}

async function removeByService(call: Call, { chainId }: PinnedChain): Promise<Removed> {
	const { client, keys } = await openContext(call);
	const account = await readEvmAccount(keys);
	const { removeDelegation } = await import("@geoswap/sdk");
	const isRemoved = await removeDelegation(client, { chainId, account, signal: call.signal });
	return { wallet: account.address, isRemoved };
}

async function removeAlone(
	call: Call,
	{ chain, rpc }: { chain: PinnedChain; rpc: readonly string[] },
): Promise<Removed> {
	const { config: stored, keys } = await openConfig(call);
	const config = { ...stored, rpc: { ...stored.rpc, ...readEndpoints(stored.pins, rpc) } };
	const wallet = await readEvmAccount(keys);
	const payer = await openPayer(keys, endpointOf(config, chain));
	const { readDelegate, undelegate } = await import("@geoswap/sdk/rescue");
	return withEvmNode(config, chain, async (client) => {
		const delegate = await readDelegate(client, wallet.address);
		if (delegate === undefined) return { wallet: wallet.address, isRemoved: false };
		call.output.say(`removing the delegation to ${delegate}, paid for by ${payer.account.address}`);
		const { hash: txHash, isRevoked } = await undelegate(client, {
			wallet,
			payer,
			chainId: chain.chainId,
		}).catch((error: unknown) => {
			throw notSent(error, {
				payer: payer.account.address,
				code: "NOT_UNDELEGATED",
				otherwise:
					"The delegation was not removed. The wallet may have sent another transaction meanwhile. Run the command again.",
			});
		});
		return { wallet: wallet.address, isRemoved: true, txHash, isRevoked };
	});
}
