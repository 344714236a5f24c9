import { geoEscrowAbi, type Order, orderCalls, orderProof, orderTerms } from "@geoswap/protocol";
import {
	type Address,
	bytesToHex,
	encodeFunctionData,
	erc20Abi,
	type Hex,
	type PrivateKeyAccount,
	type SignedAuthorization,
	zeroAddress,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { SignedOp } from "../src/swap/facts/swap-record.ts";
import type { SimEvmChain } from "./evm/create-sim-evm-chain.ts";
import { otherDelegates } from "./evm/place-contracts.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimSwap } from "./sim-swap.ts";

type Call = { to: Address; value: bigint; data: Hex };

/** Milliseconds after the submit within which a wallet misbehaves: before the lane acts, with it, or too late. */
const withinMs = 4_000;
const tries = 6;
const againMs = 2_000;
const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n };

/** Creates acts of wallets and strangers on an EVM chain that the service did not request. */
export function createMisbehaviour({
	scheduler,
	random,
	tell,
}: {
	scheduler: Scheduler;
	random: SeededRandom;
	tell: (line: string) => void;
}): (swap: SimSwap, by: { wallet: PrivateKeyAccount; chain: SimEvmChain }) => void {
	const newStranger = () => privateKeyToAccount(bytesToHex(random.bytes(32)));

	async function send(
		chain: SimEvmChain,
		from: PrivateKeyAccount,
		calls: readonly Call[],
		authorization?: SignedAuthorization,
	): Promise<void> {
		chain.give(zeroAddress, from.address, 10n ** 18n);
		for (const call of calls) {
			for (let attempt = 1; ; attempt++) {
				const nonce = Number(chain.request("eth_getTransactionCount", [from.address, "pending"]));
				const transaction = { ...call, ...fees, chainId: chain.chainId, gas: 2_000_000n, nonce };
				const raw = await from.signTransaction(
					authorization
						? { ...transaction, type: "eip7702", authorizationList: [authorization] }
						: { ...transaction, type: "eip1559" },
				);
				try {
					chain.request("eth_sendRawTransaction", [raw]);
					break;
				} catch (error) {
					// A node takes the second transaction of a delegated wallet only once the first is in a block.
					if (attempt === tries) throw error;
					await scheduler.sleep(againMs, `${from.address} sends again`);
				}
			}
		}
	}

	async function act(swap: SimSwap, wallet: PrivateKeyAccount, chain: SimEvmChain): Promise<void> {
		const { plan, inputToken, inputAmount } = swap;
		const { escrow } = chain.deployment.contracts;
		const [order, op] = [swap.order as Order, swap.op as SignedOp];
		switch (plan.behaviour) {
			case "moves-tokens": {
				const sink = newStranger().address;
				swap.sink = sink;
				const args = [sink, inputAmount] as const;
				const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args });
				const isNative = inputToken === zeroAddress;
				return send(chain, wallet, [
					isNative
						? { to: sink, value: inputAmount, data: "0x" }
						: { to: inputToken as Address, value: 0n, data },
				]);
			}
			case "opens-itself":
			case "opens-unsubmitted":
				return send(chain, wallet, orderCalls({ order, allowance: 0n }));
			case "front-run": {
				const args = [wallet.address, orderTerms(order), proofOf(op)] as const;
				const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: "openFor", args });
				return send(chain, newStranger(), [{ to: escrow, value: 0n, data }], op.authorization);
			}
			case "reported-unopened": {
				const opening = { wallet: wallet.address, gas: 0n, terms: orderTerms(order), proof: proofOf(op) };
				const args = [[opening]] as const;
				const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: "openMany", args });
				return send(chain, newStranger(), [{ to: escrow, value: 0n, data }]);
			}
			case "stale-authorization":
				if (!op.authorization) return;
				return send(chain, newStranger(), [{ to: wallet.address, value: 0n, data: "0x" }], op.authorization);
			case "delegates-elsewhere": {
				const { chainId } = chain;
				const { address } = random.pick(otherDelegates);
				const nonce = Number(chain.request("eth_getTransactionCount", [wallet.address, "latest"]));
				const authorization = await wallet.signAuthorization({ address, chainId, nonce });
				return send(chain, newStranger(), [{ to: address, value: 0n, data: "0x" }], authorization);
			}
		}
	}

	return (swap, { wallet, chain }) => {
		if (swap.plan.behaviour === "plain") return;
		scheduler.in(random.between(0, withinMs), `#${swap.index} ${swap.plan.behaviour}`, () =>
			act(swap, wallet, chain).catch((error: unknown) =>
				tell(`#${swap.index} cannot misbehave: ${String(error).split("\n")[0]}`),
			),
		);
	};
}

function proofOf({ signatureKind: kind, signature }: SignedOp): Hex {
	return orderProof({ kind, signature });
}
