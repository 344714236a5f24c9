import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { geoVaultAbi } from "@geoswap/protocol";
import {
	type Address,
	bytesToHex,
	createWalletClient,
	encodeAbiParameters,
	encodeFunctionData,
	erc20Abi,
	type Hash,
	type Hex,
	http,
	maxUint256,
	parseAbi,
	parseEther,
	parseUnits,
	zeroAddress,
} from "viem";
import { privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { expect, onTestFinished, test, vi } from "vitest";
import {
	cctpOf,
	connectDevnetChain,
	deriveDevnetKeys,
	devTokenAbi,
	startDevnet,
	startIris,
	startTestChains,
	type TestChain,
} from "../src/index.ts";
import { portSource } from "../src/stack/port-source.ts";

const transmitterAbi = parseAbi(["function receiveMessage(bytes message, bytes attestation) returns (bool)"]);
const { treasurer: treasurerKey, relayers, actors } = deriveDevnetKeys();
const treasurer = privateKeyToAccount(treasurerKey);
const amount = parseUnits("250000", 6);

type IrisMessage = { status: string; eventNonce: Hex; message: Hex; attestation: Hex };

function newMoveId(): Hex {
	return bytesToHex(randomBytes(32));
}

function walletOf({ chain, rpcUrl }: TestChain) {
	return createWalletClient({ account: treasurer, chain, transport: http(rpcUrl) });
}

/** Returns the call that burns USDC on one chain for the vault of another. */
function burnCall(origin: TestChain, destination: TestChain) {
	const { settlementToken, contracts } = origin.deployment;
	const route = cctpOf(origin).routes[destination.chainId] as Address;
	// No fee, and only once the block is final.
	const terms = encodeAbiParameters([{ type: "uint256" }, { type: "uint32" }], [0n, 2_000]);
	return {
		address: contracts.vault,
		abi: geoVaultAbi,
		functionName: "bridge",
		args: [newMoveId(), settlementToken, route, amount, terms],
	} as const;
}

function vaultBalance({ publicClient, deployment }: TestChain): Promise<bigint> {
	return publicClient.readContract({
		address: deployment.settlementToken,
		abi: erc20Abi,
		functionName: "balanceOf",
		args: [deployment.contracts.vault],
	});
}

/** Returns what Iris has about the message of a burn, or undefined if it has seen none. */
async function messageOf(url: string, origin: TestChain, hash: Hash): Promise<IrisMessage | undefined> {
	const { domain } = cctpOf(origin);
	const response = await fetch(`${url}/v2/messages/${domain}?transactionHash=${hash}`);
	if (response.status === 404) return undefined;
	return ((await response.json()) as { messages: [IrisMessage] }).messages[0];
}

test("a burn by the treasurer on a running devnet is attested once it is final, and minted to the other vault", async () => {
	const dataDir = mkdtempSync(join(tmpdir(), "geoswap-moves-"));
	onTestFinished(() => rmSync(dataDir, { recursive: true }));
	const devnet = await startDevnet({ port: await portSource()(), dataDir });
	onTestFinished(devnet.stop);
	const { irisUrl, chains } = devnet.running;
	const [origin, destination] = chains.map((endpoint, i) => {
		const deployment = devnet.deployment.chains[i];
		if (!deployment) throw new Error(`no deployment of chain ${endpoint.chainId}`);
		return { ...connectDevnetChain(endpoint), deployment };
	}) as [TestChain, TestChain];
	for (const [from, to] of [
		[origin, destination],
		[destination, origin],
	] as const) {
		const before = [await vaultBalance(from), await vaultBalance(to)] as const;
		const hash = await walletOf(from).writeContract(burnCall(from, to));
		const attested = await vi.waitUntil(
			async () => {
				const found = await messageOf(irisUrl, from, hash);
				return found?.status === "complete" && found;
			},
			{ timeout: 30_000, interval: 250 },
		);
		const [receipt, final] = await Promise.all([
			from.publicClient.getTransactionReceipt({ hash }),
			from.publicClient.getBlock({ blockTag: "finalized" }),
		]);
		expect(final.number).toBeGreaterThanOrEqual(receipt.blockNumber);
		const minted = await walletOf(to).writeContract({
			address: cctpOf(to).messageTransmitter,
			abi: transmitterAbi,
			functionName: "receiveMessage",
			args: [attested.message, attested.attestation],
		});
		await to.publicClient.waitForTransactionReceipt({ hash: minted });
		expect([await vaultBalance(from), await vaultBalance(to)]).toEqual([
			before[0] - amount,
			before[1] + amount,
		]);
	}
});

test("Iris forgets a burn that a reorg drops, and gives it the same nonce when it is in another block", async () => {
	const { origin, destination, stop } = await startTestChains();
	onTestFinished(stop);
	const iris = await startIris({ chains: [origin, destination] });
	onTestFinished(iris.stop);
	const { testClient, publicClient, deployment } = origin;
	const wallet = walletOf(origin);
	const { address, ...call } = burnCall(origin, destination);
	const request = await wallet.prepareTransactionRequest({ to: address, data: encodeFunctionData(call) });
	const serializedTransaction = await wallet.signTransaction(request);
	const snapshot = await testClient.snapshot();
	const hash = await wallet.sendRawTransaction({ serializedTransaction });
	const first = await messageOf(iris.url, origin, hash);
	expect(first).toMatchObject({ status: "pending_confirmations" });
	const { logs } = await publicClient.getTransactionReceipt({ hash });

	await testClient.revert({ id: snapshot });
	expect(await messageOf(iris.url, origin, hash)).toBeUndefined();

	// Another transaction with a log comes first in the block, so the index of the burn's logs is another.
	await testClient.setAutomine(false);
	await testClient.impersonateAccount({ address: actors.market });
	await testClient.sendUnsignedTransaction({
		from: actors.market,
		to: deployment.settlementToken,
		data: encodeFunctionData({ abi: devTokenAbi, functionName: "mint", args: [treasurer.address, 1n] }),
		maxFeePerGas: parseEther("0.000001"),
		maxPriorityFeePerGas: parseEther("0.000001"),
		gas: 200_000n,
	});
	await wallet.sendRawTransaction({ serializedTransaction });
	await testClient.mine({ blocks: 6 });
	const moved = await publicClient.getTransactionReceipt({ hash });
	expect(moved.logs[0]?.logIndex).not.toBe(logs[0]?.logIndex);
	const second = await messageOf(iris.url, origin, hash);
	expect(second).toMatchObject({ status: "complete", eventNonce: first?.eventNonce });
});

test("the treasurer can buy and sell every asset, and send gas to each relayer and to itself", async () => {
	const { origin, destination, stop } = await startTestChains();
	onTestFinished(stop);
	for (const chain of [origin, destination]) {
		const { publicClient, deployment } = chain;
		const { settlementToken, contracts, assets } = deployment;
		const wallet = walletOf(chain);
		const vault = { address: contracts.vault, abi: geoVaultAbi } as const;
		const expectDone = async (hash: Hash) => {
			const { status } = await publicClient.waitForTransactionReceipt({ hash });
			expect(status).toBe("success");
		};
		for (const { address, decimals, paths } of assets) {
			if (address === settlementToken) continue;
			const [poolFee = 0, secondPoolFee = 0] = paths[0] ?? [];
			const trade = (from: Address, to: Address, sold: bigint) =>
				wallet.writeContract({
					...vault,
					functionName: "trade",
					args: [newMoveId(), from, to, sold, 0n, poolFee, secondPoolFee, maxUint256],
				});
			await expectDone(await trade(address, settlementToken, parseUnits("1", decimals)));
			await expectDone(await trade(settlementToken, address, parseUnits("1000", 6)));
		}
		for (const to of [...relayers.map((key) => privateKeyToAddress(key)), treasurer.address]) {
			const before = await publicClient.getBalance({ address: to });
			const args = [newMoveId(), zeroAddress, to, parseEther("2")] as const;
			await expectDone(await wallet.writeContract({ ...vault, functionName: "send", args }));
			const received = (await publicClient.getBalance({ address: to })) - before;
			if (to === treasurer.address) expect(received).toBeGreaterThan(parseEther("1.9"));
			else expect(received).toBe(parseEther("2"));
		}
	}
});
