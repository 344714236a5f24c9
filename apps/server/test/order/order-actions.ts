import { randomBytes } from "node:crypto";
import { devTokenAbi, type TestChain, type TestChains } from "@geoswap/devnet";
import {
	attestationMessage,
	attestationTypedData,
	fromWord,
	geoEscrowAbi,
	geoVaultAbi,
	newSwapUuid,
	type Order,
	orderTerms,
	packDeadlines,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import {
	type Address,
	createWalletClient,
	encodeFunctionData,
	type Hash,
	type Hex,
	http,
	type LocalAccount,
	parseEther,
	type TransactionReceipt,
	zeroAddress,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";

/** Creates actions on orders of test chains, each by its own transaction, which is mined when the action returns. */
export function orderActions(chains: TestChains) {
	const { origin, destination, keys } = chains;
	const account = (key: Hex | undefined) => privateKeyToAccount(key ?? "0x");
	const relayer = account(keys.relayers[0]);
	const wallet = account(keys.wallets[0]);
	const chainOf = (chainId: bigint) => (chainId === BigInt(origin.chainId) ? origin : destination);

	async function approve(order: Order): Promise<void> {
		await origin.testClient.setBalance({ address: wallet.address, value: parseEther("1") });
		const args = [fromWord(order.escrow), order.inputAmount] as const;
		const data = encodeFunctionData({ abi: devTokenAbi, functionName: "approve", args });
		await send(origin, wallet, { to: fromWord(order.inputToken), data });
	}

	/** Opens an order whose input the escrow may take. */
	async function openApproved(order: Order): Promise<TransactionReceipt> {
		await origin.testClient.setBalance({ address: wallet.address, value: parseEther("1") });
		return send(origin, wallet, {
			to: fromWord(order.escrow),
			data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "open", args: [orderTerms(order)] }),
			...(fromWord(order.inputToken) === zeroAddress ? { value: order.inputAmount } : {}),
		});
	}

	const fills: { chainId: number; hash: Hex }[] = [];
	return {
		relayer,
		wallet,
		/** The transactions of all fills but a thief's. */
		fills,

		/** Returns an order of 10 USDC to USDC on the other chain, or to another asset, with an hour for each step. */
		async makeOrder({
			to = destination,
			symbol = "USDC",
			input = "USDC",
			stepSeconds = 3_600n,
			/** Age of the order. */
			agoSeconds = 0n,
			topUp = 0n,
			recipient = wallet.address as Address,
		} = {}): Promise<Order> {
			const { timestamp } = await origin.publicClient.getBlock();
			const now = timestamp - agoSeconds;
			return {
				originChainId: BigInt(origin.chainId),
				destinationChainId: BigInt(to.chainId),
				escrow: toWord(origin.deployment.contracts.escrow),
				originVault: toWord(origin.deployment.contracts.vault),
				destinationVault: toWord(to.deployment.contracts.vault),
				attesterSet: origin.deployment.attesterSet.hash,
				wallet: toWord(wallet.address),
				inputToken: toWord(assetAddress(origin, input)),
				inputAmount: 10_000_000n,
				outputToken: toWord(assetAddress(to, symbol)),
				minOutput: 1_000n,
				recipient: toWord(recipient),
				topUp,
				swapKey: toSwapKey(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) })),
				deadlines: packDeadlines({
					openDeadline: now + stepSeconds,
					fillDeadline: now + 2n * stepSeconds,
					refundAfter: now + 3n * stepSeconds,
				}),
			};
		},

		/** Approves the escrow to take the input. */
		approve,

		openApproved,

		async open(order: Order): Promise<TransactionReceipt> {
			if (fromWord(order.inputToken) !== zeroAddress) await approve(order);
			return openApproved(order);
		},

		/** Fills from inventory, or through the router if a pool's fee is given. */
		async fill(
			order: Order,
			amount: bigint,
			{ poolFee = 0, isTheft = false } = {},
		): Promise<TransactionReceipt> {
			const item = { order, amount, minOutput: 0n, poolFee, secondPoolFee: 0 };
			const { chainId } = chainOf(order.destinationChainId);
			const receipt = await send(chainOf(order.destinationChainId), relayer, {
				to: fromWord(order.destinationVault),
				data: encodeFunctionData({ abi: geoVaultAbi, functionName: "fillMany", args: [[item]] }),
			});
			if (!isTheft) fills.push({ chainId, hash: receipt.transactionHash });
			return receipt;
		},

		voidOrder(order: Order): Promise<TransactionReceipt> {
			return send(chainOf(order.destinationChainId), relayer, {
				to: fromWord(order.destinationVault),
				data: encodeFunctionData({ abi: geoVaultAbi, functionName: "voidMany", args: [[order]] }),
			});
		},

		/** Settles with signatures of the devnet's attesters, regardless of the chains' state. */
		async decide(kind: "Release" | "Refund", order: Order): Promise<TransactionReceipt> {
			const { threshold, attesters } = origin.deployment.attesterSet;
			const typedData = attestationTypedData(attestationMessage(kind, [order]));
			const signers = keys.attesters.slice(0, threshold).map((key) => privateKeyToAccount(key));
			const signatures = await Promise.all(signers.map((signer) => signer.signTypedData(typedData)));
			const attestation = { threshold: BigInt(threshold), attesters, signatures };
			return send(origin, relayer, {
				to: fromWord(order.escrow),
				data: encodeFunctionData({
					abi: geoEscrowAbi,
					functionName: kind === "Release" ? "releaseMany" : "refundMany",
					args: [[order], attestation],
				}),
			});
		},

		/**
		 * Releases as the wallet, which is the vault in the order's terms, on the same chain. Anyone can do that with their
		 * own order.
		 */
		releaseAsVault(order: Order): Promise<TransactionReceipt> {
			return send(origin, wallet, {
				to: fromWord(order.escrow),
				data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "releaseFilled", args: [order] }),
			});
		},

		/** Mines enough blocks to make all before them final. */
		async finalize(): Promise<void> {
			await Promise.all([origin, destination].map(({ testClient }) => testClient.mine({ blocks: 6 })));
		},
	};
}

export function assetAddress(chain: TestChain, symbol: string): Address {
	const asset = chain.deployment.assets.find((candidate) => candidate.symbol === symbol);
	if (!asset) throw new Error(`no asset ${symbol} on chain ${chain.chainId}`);
	return asset.address;
}

/** Sends a transaction, and waits until it is mined. Throws if it reverts. */
export async function send(
	chain: TestChain,
	account: LocalAccount,
	transaction: { to: Address; data: Hex; value?: bigint },
): Promise<TransactionReceipt> {
	const client = createWalletClient({ account, chain: chain.chain, transport: http(chain.rpcUrl) });
	const hash: Hash = await client.sendTransaction({ ...transaction, gas: 3_000_000n });
	const receipt = await chain.publicClient.waitForTransactionReceipt({ hash, pollingInterval: 20 });
	if (receipt.status !== "success") throw new Error(`${hash} reverted`);
	return receipt;
}
