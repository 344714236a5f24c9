import { readArtifact } from "@geoswap/contracts";
import { routerAbi, startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import {
	encodeMandate,
	geoEscrowAbi,
	geoVaultAbi,
	type Order,
	orderTerms,
	signedMandateSchema,
	toWord,
	vaultPath,
} from "@geoswap/protocol";
import { createMandate } from "@geoswap/sdk";
import {
	type Abi,
	type Address,
	concat,
	encodeFunctionData,
	erc20Abi,
	type Hex,
	type LocalAccount,
	parseEventLogs,
	type TransactionReceipt,
	zeroAddress,
} from "viem";
import {
	generatePrivateKey,
	type PrivateKeyAccount,
	privateKeyToAccount,
	privateKeyToAddress,
} from "viem/accounts";
import { attest } from "../wallet/attest.ts";
import { assetAddress, makeOrder } from "../wallet/make-order.ts";
import { sendBundle, sendTransaction, signDelegation, signOpening } from "../wallet/send-bundle.ts";
import { delegatedWallet, fundEther, fundedWallet, mintUsdc } from "../wallet/test-wallet.ts";

/** Gas of one step of the service, beside that of the same step without the service's contracts around it. */
export type GasRow = { what: string; gas: bigint; bare: string; bareGas: bigint };

const batch = 10;
/**
 * Measures every step by the receipts of real transactions on one pair of chains. Both sides of a row start from the
 * same state. Tokens remain on either side of a transfer, so that no slot is first written or cleared on one side only.
 */
export async function measureGas(report: (row: GasRow) => void): Promise<void> {
	const chains = await startTestChains({ automine: true });
	try {
		const bench = await prepare(chains);
		for (const measure of [measureOpens, measureFills, measureDecisions]) {
			for (const row of await measure(bench)) report(row);
		}
	} finally {
		await chains.stop();
	}
}

type Bench = {
	chains: TestChains;
	origin: TestChain;
	destination: TestChain;
	relayer: PrivateKeyAccount;
	usdc: Address;
	/** Opened orders that are not decided yet, all of one attester set. */
	opened: Order[];
};

async function prepare(chains: TestChains): Promise<Bench> {
	const { origin, destination, keys } = chains;
	const relayer = privateKeyToAccount(keys.relayers[0] ?? "0x");
	const usdc = assetAddress(origin, "USDC");
	await mintUsdc({ chain: origin, relayer, to: origin.deployment.contracts.escrow, amount: 1n });
	return {
		chains,
		origin,
		destination,
		relayer,
		usdc,
		opened: [],
	};
}

async function measureOpens(bench: Bench): Promise<GasRow[]> {
	const { origin, relayer } = bench;
	const escrow = origin.deployment.contracts.escrow;

	const newWallet = await richWallet(bench, fundedWallet);
	const first = await sendBundle({
		chain: origin,
		relayer,
		openings: [await openOp(bench, newWallet)],
		authorizations: [await signDelegation(origin, newWallet)],
	});
	expectEvents(first, "Opened", 1);

	const wallets = [];
	for (let i = 0; i < batch + 2; i++) wallets.push(await richWallet(bench, delegatedWallet));
	const [single, mandated, ...others] = wallets as [
		PrivateKeyAccount,
		PrivateKeyAccount,
		...PrivateKeyAccount[],
	];
	const later = await sendBundle({ chain: origin, relayer, openings: [await openOp(bench, single)] });
	expectEvents(later, "Opened", 1);
	const bundle = await sendBundle({
		chain: origin,
		relayer,
		openings: await Promise.all(others.map((wallet) => openOp(bench, wallet))),
	});
	expectEvents(bundle, "Opened", batch);

	const agentsOp = await newAgent(bench, mandated);
	const agentsFirst = await sendBundle({ chain: origin, relayer, openings: [await agentsOp()] });
	const agentsLater = await sendBundle({ chain: origin, relayer, openings: [await agentsOp()] });
	for (const receipt of [agentsFirst, agentsLater]) expectEvents(receipt, "Opened", 1);

	// The bare twin is a plain account with its own ether.
	const plain = await richWallet(bench, fundedWallet);
	await fundEther(origin, plain.address);
	const order = await orderOf(bench, plain);
	bench.opened.push(order);
	const bareOpen =
		(await approve(bench, plain, escrow, order.inputAmount)) +
		(await gasOf(origin, plain, escrow, {
			data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "open", args: [orderTerms(order)] }),
		}));

	const deposit = readArtifact("DevDeposit");
	const depositAddress = await deploy(bench, deposit.bytecode);
	await mintUsdc({ chain: origin, relayer, to: depositAddress, amount: 1n });
	const bareDeposit =
		(await approve(bench, plain, depositAddress, order.inputAmount)) +
		(await gasOf(origin, plain, depositAddress, {
			data: encodeFunctionData({
				abi: deposit.abi as Abi,
				functionName: "deposit",
				args: [orderTerms(order)],
			}),
		}));

	const bareOpenName = "an account's own approve + open";
	const bareDepositName = "approve + a deposit that stores nothing";
	const rows: [string, bigint][] = [
		["first swap: delegation and order", first.gasUsed],
		["later swap: one order", later.gasUsed],
		["ten orders together, per order", bundle.gasUsed / BigInt(batch)],
		["an agent's first order within a mandate", agentsFirst.gasUsed],
		["an agent's later order within it", agentsLater.gasUsed],
	];
	return rows.flatMap(([what, gas]) => [
		{ what, gas, bare: bareOpenName, bareGas: bareOpen },
		{ what, gas, bare: bareDepositName, bareGas: bareDeposit },
	]);
}

/** Returns a function that makes the next order which an agent signs within a mandate of the smallest size. */
async function newAgent(bench: Bench, owner: PrivateKeyAccount) {
	const { origin, usdc } = bench;
	const agent = privateKeyToAccount(generatePrivateKey());
	const mandate = await createMandate({
		account: owner,
		pins: { chains: [origin.deployment] } as Parameters<typeof createMandate>[0]["pins"],
		chainId: origin.chainId,
		agent: agent.address,
		inputs: [{ token: usdc, maxAmount: 1_000_000_000n }],
		periodSeconds: 86_400,
		expiresAt: new Date(Date.now() + 86_400_000),
	});
	const encoded = encodeMandate(signedMandateSchema.parse(mandate));
	return async () => {
		const order = await orderOf(bench, owner);
		bench.opened.push(order);
		const { proof, ...opening } = await signOpening({ order, wallet: agent, kind: "typed" });
		return { ...opening, wallet: owner.address, proof: concat([proof, encoded]) };
	};
}

async function measureFills(bench: Bench): Promise<GasRow[]> {
	const { destination, relayer } = bench;
	const { vault } = destination.deployment.contracts;
	const usdc = assetAddress(destination, "USDC");
	const volatile = destination.deployment.assets.find(
		({ kind, address }) =>
			kind === "volatile" && BigInt(address) !== 0n && address !== destination.deployment.wrappedNative,
	);
	if (volatile === undefined) throw new Error("the devnet has a volatile token");
	const recipient = await holderOn(bench, destination);

	const feeOf = (token: Address) =>
		destination.deployment.assets.find(({ address }) => address === token)?.paths[0]?.[0] ?? 0;
	const fillItem = async (outputToken: Address, routed: boolean, to: Address = recipient.address) => {
		const order = await orderOf(bench, { address: recipient.address }, outputToken);
		return {
			order: { ...order, minOutput: 1n, recipient: toWord(to) },
			amount: 9_990_000n,
			minOutput: 0n,
			poolFee: routed ? feeOf(outputToken) : 0,
			secondPoolFee: 0,
		};
	};
	const fill = async (outputToken: Address, routed: boolean, to?: Address) =>
		gasOf(destination, relayer, vault, {
			data: encodeFunctionData({
				abi: geoVaultAbi,
				functionName: "fill",
				args: [await fillItem(outputToken, routed, to)],
			}),
		});

	// The first fills are not measured. After them the recipient holds the token, and the vault's and pool's slots are
	// written.
	await fill(usdc, false);
	await fill(volatile.address, true);
	const fromInventory = await fill(usdc, false);
	const routed = await fill(volatile.address, true);
	await fill(zeroAddress, true);
	const native = await fill(zeroAddress, true);
	const [created, burner] = [generatePrivateKey(), generatePrivateKey()].map((key) =>
		privateKeyToAddress(key),
	);
	if (!created || !burner) throw new Error("there are two addresses");
	const nativeToNew = await fill(zeroAddress, true, created);
	// It loops while more than 300 gas is left.
	await destination.testClient.setCode({ address: burner, bytecode: "0x5b61012c5a115f5700" });
	const nativeToBurner = await fill(zeroAddress, true, burner);
	const items = [];
	for (let i = 0; i < batch; i++) items.push(await fillItem(usdc, false));
	const many = await gasOf(destination, relayer, vault, {
		data: encodeFunctionData({ abi: geoVaultAbi, functionName: "fillMany", args: [items] }),
		events: ["Filled", batch],
	});

	const transfer = await gasOf(destination, recipient, usdc, {
		data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [vault, 1n] }),
	});
	const { router } = destination.deployment.uniswap;
	const bareSwap =
		(await gasOf(destination, recipient, usdc, {
			data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [router, 5_000_000n] }),
		})) +
		(await gasOf(destination, recipient, router, {
			data: encodeFunctionData({
				abi: routerAbi,
				functionName: "exactInput",
				args: [
					{
						path: vaultPath(destination.deployment, { asset: volatile.address, fees: [3000] }),
						recipient: recipient.address,
						amountIn: 5_000_000n,
						amountOutMinimum: 0n,
					},
				],
			}),
		}));
	const bare = "a token transfer";
	const bareRouted = { bare: "an account's own approve + exactInput", bareGas: bareSwap };
	return [
		{ what: "fill from inventory", gas: fromInventory, bare, bareGas: transfer },
		{ what: "ten fills from inventory, per fill", gas: many / BigInt(batch), bare, bareGas: transfer },
		{ what: "fill through the router", gas: routed, ...bareRouted },
		{ what: "fill of the native token through the router", gas: native, ...bareRouted },
		{ what: "the same, to a new account", gas: nativeToNew, ...bareRouted },
		{ what: "the same, to a contract that uses all gas it is given", gas: nativeToBurner, ...bareRouted },
	];
}

async function measureDecisions(bench: Bench): Promise<GasRow[]> {
	const { origin, relayer, usdc } = bench;
	const { escrow, vault } = origin.deployment.contracts;
	const take = (count: number) => bench.opened.splice(0, count);
	const decide = async (
		kind: "Release" | "Refund",
		functionName: "release" | "refundEarly" | "releaseMany" | "refundMany",
		orders: Order[],
	) => {
		const attestation = await attest({ chain: origin, keys: bench.chains.keys, kind, orders });
		const isMany = functionName === "releaseMany" || functionName === "refundMany";
		return gasOf(origin, relayer, escrow, {
			data: isMany
				? encodeFunctionData({ abi: geoEscrowAbi, functionName, args: [orders, attestation] })
				: encodeFunctionData({ abi: geoEscrowAbi, functionName, args: [orders[0] as Order, attestation] }),
			events: [kind === "Release" ? "Released" : "Refunded", orders.length],
		});
	};
	const release = await decide("Release", "release", take(1));
	const refundEarly = await decide("Refund", "refundEarly", take(1));
	while (bench.opened.length < batch + 1) await openAnother(bench);
	const releases = await decide("Release", "releaseMany", take(batch));
	await origin.testClient.increaseTime({ seconds: 200 });
	await origin.testClient.mine({ blocks: 1 });
	const refund = await gasOf(origin, relayer, escrow, {
		data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "refund", args: [take(1)[0] as Order] }),
	});

	const holder = await holderOn(bench, origin);
	const transfer = await gasOf(origin, holder, usdc, {
		data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [vault, 1n] }),
	});
	const bare = "a token transfer";
	return [
		{ what: "release", gas: release, bare, bareGas: transfer },
		{ what: "ten releases, per release", gas: releases / BigInt(batch), bare, bareGas: transfer },
		{ what: "refund on attestation", gas: refundEarly, bare, bareGas: transfer },
		{ what: "refund by anyone", gas: refund, bare, bareGas: transfer },
	];
}

async function openAnother(bench: Bench): Promise<void> {
	const wallet = await richWallet(bench, delegatedWallet);
	await sendBundle({ chain: bench.origin, relayer: bench.relayer, openings: [await openOp(bench, wallet)] });
}

async function openOp(bench: Bench, wallet: LocalAccount) {
	const order = await orderOf(bench, wallet);
	bench.opened.push(order);
	return signOpening({ order, wallet, kind: "typed" });
}

function orderOf(bench: Bench, wallet: { address: Address }, outputToken?: Address): Promise<Order> {
	return makeOrder({
		chains: bench.chains,
		wallet: wallet.address,
		inputToken: bench.usdc,
		outputToken: outputToken ?? assetAddress(bench.destination, "USDC"),
	});
}

async function richWallet(bench: Bench, make: typeof fundedWallet): Promise<PrivateKeyAccount> {
	const wallet = await make(bench.origin, bench.relayer);
	await mintUsdc({ chain: bench.origin, relayer: bench.relayer, to: wallet.address, amount: 90_000_000n });
	return wallet;
}

async function holderOn(bench: Bench, chain: TestChain): Promise<PrivateKeyAccount> {
	const holder = await fundedWallet(chain, bench.relayer);
	await fundEther(chain, holder.address);
	return holder;
}

function approve(bench: Bench, from: LocalAccount, spender: Address, amount: bigint): Promise<bigint> {
	const data = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] });
	return gasOf(bench.origin, from, bench.usdc, { data });
}

async function gasOf(
	chain: TestChain,
	account: LocalAccount,
	to: Address,
	{ data, events }: { data: Hex; events?: ExpectedEvents },
): Promise<bigint> {
	await chain.publicClient.call({ account, to, data });
	const receipt = await sendTransaction({ chain, account, to, data });
	if (receipt.status !== "success") throw new Error(`transaction ${receipt.transactionHash} reverted`);
	if (events !== undefined) expectEvents(receipt, ...events);
	return receipt.gasUsed;
}

type ExpectedEvents = ["Opened" | "Filled" | "Released" | "Refunded", number];

/** Throws if items failed, because bundles and batches succeed even then, and failed items are cheap. */
function expectEvents({ logs, transactionHash }: TransactionReceipt, ...[name, count]: ExpectedEvents): void {
	const seen = parseEventLogs({ abi: [...geoEscrowAbi, ...geoVaultAbi], logs }).filter(
		({ eventName }) => eventName === name,
	).length;
	if (seen !== count)
		throw new Error(`transaction ${transactionHash} has ${seen} events ${name}, not ${count}`);
}

async function deploy(bench: Bench, bytecode: Hex): Promise<Address> {
	const receipt = await sendTransaction({ chain: bench.origin, account: bench.relayer, data: bytecode });
	if (receipt.contractAddress == null) throw new Error("nothing was deployed");
	return receipt.contractAddress;
}
