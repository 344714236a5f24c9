import { geoEscrowAbi, type Order, orderTerms, packDeadlines, toWord } from "@geoswap/protocol";
import {
	type Address,
	bytesToHex,
	encodeFunctionData,
	erc20Abi,
	type Hex,
	type PrivateKeyAccount,
	zeroAddress,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { SimEvmChain } from "./evm/create-sim-evm-chain.ts";
import { hollowToken } from "./evm/place-contracts.ts";
import type { rpcReceipt } from "./evm/rpc-block.ts";
import type { Plan } from "./plan.ts";
import { createSolanaStrangers, type SolanaAct, solanaActs } from "./sim-solana-strangers.ts";
import type { World } from "./world.ts";

/** Costs are in the smallest unit of each chain's own coin. */
export type StrangerFigures = {
	/** Milliseconds that callers waited for a terminal status, by swap. Absent if there was none. */
	waitedMs: Record<number, number>;
	acts: Record<string, number>;
	cost: { ours: ChainCosts; theirs: ChainCosts };
};
type ChainCosts = { wei: string; lamports: string };

const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n };
/** Interval at which callers poll their swaps. */
export const lookEveryMs = 500;
const floodSize = 25;

const evmActs = ["hollow-token", "hollow-token-left", "own-order", "foreign-order", "gift", "flood"] as const;

/** Schedules the acts of strangers, on any chain, with their own keys and money. Returns how to read the figures. */
export function watchWithStrangers(
	world: World,
	{ strangers: count = 0, hostileMs }: Plan,
	startsInMs: number,
): () => Promise<StrangerFigures> {
	const { scheduler, evm, solana } = world;
	world.hasStrangers = count > 0;
	const random = world.random.fork("strangers");
	const acts: Record<string, number> = {};
	const evmStrangers: { chain: SimEvmChain; address: Address }[] = [];
	const onSolana = createSolanaStrangers(world, random.fork("Solana"));

	for (let i = 0; i < count; i++) {
		const name = random.pick(["east", "west", "solana"] as const);
		const act = name === "solana" ? random.pick(solanaActs) : random.pick(evmActs);
		const seed = random.fork(`act ${i}`);
		scheduler.in(startsInMs + random.between(0, hostileMs), `a stranger: ${name} ${act}`, async () => {
			try {
				if (name === "solana") await onSolana.act(act as SolanaAct);
				else
					await actOnEvm(
						evm[name],
						act as (typeof evmActs)[number],
						privateKeyToAccount(bytesToHex(seed.bytes(32))),
					);
				const key = `${name === "solana" ? "solana" : "evm"} ${act}`;
				acts[key] = (acts[key] ?? 0) + 1;
			} catch (error) {
				world.tell("stranger", `cannot do ${act}: ${String(error).split("\n")[0]}`);
			}
		});
	}

	async function actOnEvm(
		chain: SimEvmChain,
		act: (typeof evmActs)[number],
		stranger: PrivateKeyAccount,
	): Promise<void> {
		const { contracts, assets, settlementToken } = chain.deployment;
		const token = random.pick(assets).address;
		chain.give(zeroAddress, stranger.address, 10n ** 19n);
		chain.give(settlementToken, stranger.address, 10n ** 12n);
		if (token !== zeroAddress) chain.give(token, stranger.address, 10n ** 12n);
		evmStrangers.push({ chain, address: stranger.address });
		const send = sender(chain, stranger);
		const order = ownOrder(chain, stranger.address, act);
		const open = () =>
			send(contracts.escrow, { abi: geoEscrowAbi, functionName: "open", args: [orderTerms(order)] });
		const approve = (spender: Address) =>
			send(settlementToken, { abi: erc20Abi, functionName: "approve", args: [spender, 10n ** 12n] });
		switch (act) {
			case "hollow-token":
				await open();
				return send(contracts.escrow, { abi: geoEscrowAbi, functionName: "releaseFilled", args: [order] });
			case "hollow-token-left":
				return open();
			case "own-order":
			case "foreign-order":
				await approve(contracts.escrow);
				return open();
			case "gift": {
				const to = random.pick([contracts.escrow, contracts.vault]);
				if (token === zeroAddress) return send(to, undefined, 1_000n);
				return send(token, { abi: erc20Abi, functionName: "transfer", args: [to, 1_000n] });
			}
			case "flood":
				await approve(contracts.escrow);
				for (let i = 0; i < floodSize; i++) {
					const one = ownOrder(chain, stranger.address, "own-order");
					await send(contracts.escrow, { abi: geoEscrowAbi, functionName: "open", args: [orderTerms(one)] });
				}
		}
	}

	/**
	 * Returns a stranger's order against the service's contracts. Its token is the stranger's own, its amount too small to
	 * be rebuilt, or its vault foreign.
	 */
	function ownOrder(chain: SimEvmChain, wallet: Address, act: (typeof evmActs)[number]): Order {
		const { contracts, settlementToken, attesterSet } = chain.deployment;
		const isHollow = act === "hollow-token" || act === "hollow-token-left";
		const isForeign = isHollow || act === "foreign-order";
		const now = BigInt(chain.timestamp());
		return {
			originChainId: BigInt(chain.chainId),
			destinationChainId: BigInt(chain.chainId),
			escrow: toWord(contracts.escrow),
			originVault: toWord(contracts.vault),
			destinationVault: toWord(isForeign ? wallet : contracts.vault),
			attesterSet: attesterSet.hash,
			wallet: toWord(wallet),
			inputToken: toWord(isHollow ? hollowToken : settlementToken),
			inputAmount: isHollow ? 10n ** 18n : BigInt(random.between(1, 1_000)),
			outputToken: toWord(zeroAddress),
			minOutput: 1n,
			recipient: toWord(wallet),
			topUp: 0n,
			swapKey: bytesToHex(new Uint8Array([...new Uint8Array(16), ...random.bytes(16)])),
			deadlines: packDeadlines({ openDeadline: now + 60n, fillDeadline: now + 61n, refundAfter: now + 62n }),
		};
	}

	const doneAtMs = new Map<string, number>();
	const look = async () => {
		const { rows } = await world.database.pool.query<{ id: string }>(
			"select id from swaps where status <> 'pending' order by id",
		);
		for (const { id } of rows) if (!doneAtMs.has(id)) doneAtMs.set(id, scheduler.nowMs());
		if (
			doneAtMs.size < world.wallets.swaps.length ||
			scheduler.nowMs() < world.startMs + startsInMs + hostileMs
		) {
			scheduler.in(lookEveryMs, "callers look", look);
		}
	};
	scheduler.in(startsInMs, "callers look", look);

	return async () => {
		// The world ends with its last swap, which no caller may have polled since.
		const { rows: ended } = await world.database.pool.query<{ id: string; ended_at: Date }>(
			"select id, ended_at from swaps where status <> 'pending' and ended_at is not null order by id",
		);
		for (const { id, ended_at } of ended) if (!doneAtMs.has(id)) doneAtMs.set(id, ended_at.getTime());
		const waitedMs: Record<number, number> = {};
		for (const { index, uuid = "", submittedAtMs } of world.wallets.swaps) {
			const doneMs = doneAtMs.get(uuid);
			if (doneMs !== undefined && submittedAtMs !== undefined) waitedMs[index] = doneMs - submittedAtMs;
		}
		const gas = await world.database.pool.query<{ is_evm: boolean; amount: bigint }>(
			`select chain_id <> $1 as is_evm, sum(amount)::numeric as amount from entries
			where account in ('gas', 'rent') group by 1`,
			[solana.chainId],
		);
		const spent = (isEvm: boolean) => String(gas.rows.find((row) => row.is_evm === isEvm)?.amount ?? 0n);
		return {
			waitedMs,
			acts,
			cost: {
				ours: { wei: spent(true), lamports: spent(false) },
				theirs: {
					wei: String(evmStrangers.reduce((sum, one) => sum + gasOf(one), 0n)),
					lamports: String(onSolana.spentLamports()),
				},
			},
		};
	};
}

type Call = { abi: unknown; functionName: string; args: unknown };

function sender(chain: SimEvmChain, from: PrivateKeyAccount) {
	let nonce = Number(chain.request("eth_getTransactionCount", [from.address, "pending"]));
	return async (to: Address, call: Call | undefined, value = 0n): Promise<void> => {
		const data: Hex = call ? encodeFunctionData(call as Parameters<typeof encodeFunctionData>[0]) : "0x";
		const { chainId } = chain;
		const transaction = { to, value, data, ...fees, chainId, gas: 500_000n, nonce: nonce++ };
		const raw = await from.signTransaction({ ...transaction, type: "eip1559" });
		chain.request("eth_sendRawTransaction", [raw]);
	};
}

function gasOf({ chain, address }: { chain: SimEvmChain; address: Address }): bigint {
	return chain.minedOf(address).reduce((sum, { hash }) => {
		const receipt = chain.request("eth_getTransactionReceipt", [hash]) as ReturnType<typeof rpcReceipt>;
		return sum + BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice);
	}, 0n);
}
