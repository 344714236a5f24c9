import { type SolanaAddress, solanaNativeToken } from "@geoswap/protocol";
import { type Address, zeroAddress } from "viem";
import type { rpcReceipt } from "./evm/rpc-block.ts";
import type { ChainName } from "./plan.ts";
import type { SimSwap } from "./sim-swap.ts";
import type { World } from "./world.ts";

/** Checks that each wallet has what it was given, less the inputs of settled swaps and what it gave away itself. */
export function checkWallets(
	world: World,
	{
		rows,
		lost,
		keptOut,
	}: {
		rows: ReadonlyMap<string, { id: string; status: string }>;
		lost: ReadonlySet<string>;
		keptOut: ReadonlySet<string>;
	},
): string[] {
	const expected = new Map<string, { swap: SimSwap; amount: bigint; indexes: number[] }>();
	for (const swap of world.wallets.swaps) {
		const key = `${swap.plan.from} ${swap.wallet} ${swap.inputToken}`;
		const sum = expected.get(key) ?? { swap, amount: 0n, indexes: [] };
		const row = swap.uuid === undefined ? undefined : rows.get(swap.uuid);
		// A delivery for a deposit that its chain dropped is the service's loss, which has its own cap.
		const isDropped = swap.orderId !== undefined && lost.has(swap.orderId);
		const isSettled = row?.status === "settled" && !keptOut.has(row.id);
		const isGiven = isSettled && !isDropped;
		const moved = swap.sink ? balanceOf(world, swap.plan.from, swap.inputToken, swap.sink) : 0n;
		sum.amount += (isGiven ? 0n : swap.inputAmount) - moved + forGas(world, swap);
		sum.indexes.push(swap.index);
		expected.set(key, sum);
	}
	return [...expected.values()].flatMap(({ swap, amount, indexes }) => {
		const has = balanceOf(world, swap.plan.from, swap.inputToken, swap.wallet);
		// A wallet also gets what strangers gave to its order on Solana.
		const mayHaveMore = world.hasStrangers && swap.plan.from === "solana";
		if (has === amount || (mayHaveMore && has > amount)) return [];
		const names = indexes.map((index) => `#${index}`).join(" ");
		return [`the wallet of ${names} has ${has} of ${swap.inputToken}, but should have ${amount}`];
	});
}

/** Behaviours of wallets that pay for their own transactions. For all others, another account pays. */
const payers: ReadonlySet<string> = new Set(["moves-tokens", "opens-itself", "opens-unsubmitted"]);
/** The amount that sim-misbehaviour.ts gives. */
const gasGift = 10n ** 18n;

/** Returns the gas money that a wallet was given for its own transactions, less what those cost. */
function forGas({ evm }: World, { plan, wallet, inputToken, outcome }: SimSwap): bigint {
	if (plan.from === "solana" || inputToken !== zeroAddress) return 0n;
	const chain = evm[plan.from];
	const isPaying = payers.has(plan.behaviour) && outcome !== "refused" && outcome !== "not-yet";
	return chain.minedOf(wallet as Address).reduce(
		(rest, { hash }) => {
			const receipt = chain.request("eth_getTransactionReceipt", [hash]) as ReturnType<typeof rpcReceipt>;
			return rest - BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice);
		},
		isPaying ? gasGift : 0n,
	);
}

/** Returns what an address has of a token now, according to the chain itself. */
export function balanceOf(world: World, chain: ChainName, token: string, holder: string): bigint {
	return chain === "solana"
		? world.solana.balanceOf(token as SolanaAddress, holder as SolanaAddress)
		: world.evm[chain].balanceOf(token as Address, holder as Address);
}

/** Returns what the swap's recipient got as the output, and as the top-up. Nothing else pays recipients. */
export function receivedBy(
	world: World,
	{ plan, order, outputToken, recipient }: SimSwap,
): { output: bigint; topUp: bigint } {
	const native = plan.to === "solana" ? solanaNativeToken : zeroAddress;
	const [output, gas] = [outputToken, native].map((token) => balanceOf(world, plan.to, token, recipient));
	if (output === undefined || gas === undefined) throw new Error("two balances were read");
	if (outputToken !== native) return { output, topUp: gas };
	const topUp = output > 0n ? (order?.topUp ?? 0n) : 0n;
	return { output: output - topUp, topUp };
}
