import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deployContracts, parseDeployConfig } from "@geoswap/contracts";
import type { TestChain } from "@geoswap/devnet";
import { type ChainDeployment, formatDeployment, geoVaultAbi, withChainDeployment } from "@geoswap/protocol";
import {
	buildOp,
	getChains,
	getDelegation,
	getQuote,
	getStatus,
	swap,
	VerificationError,
	waitForSwap,
} from "@geoswap/sdk";
import {
	type Address,
	encodeFunctionData,
	type Hex,
	http,
	type PrivateKeyAccount,
	parseUnits,
	toHex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { doSwap, type SignedSwap, signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import { escrowState } from "../chain/escrow-state.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import type { OwnEnvironment } from "../environment/environment.ts";
import { expectAllEnded } from "../expect/expect-all-ended.ts";
import { expectBooksAgree } from "../expect/expect-books-agree.ts";
import { ownEnvironment } from "../own-environment.ts";
import { holdBack } from "../trouble/hold-back.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { sendTransaction } from "../wallet/send-bundle.ts";

const amount = parseUnits("100", 6);
/** The inventory that stays in the earlier vault for orders whose terms contain it. */
const keptInventory = parseUnits("1000", 6);
const patience = { timeout: 120_000, interval: 300 };

/** The deployment takes a block for each of its steps. */
const environmentOf = ownEnvironment({ rhythm: { blockMs: 400 } });

test("after the contracts of a chain are replaced, orders in flight end in the earlier ones, signed ones are refused without effect, and wallets delegate again", async () => {
	const environment = environmentOf();
	const { origin, destination, deployment: before, databaseUrl, stack } = environment;
	const { api, worker, audit, attesters } = stack.processes;
	const client = await environment.newClient();
	const usdcOf = (chain: TestChain) => assetAddress<Address>(chain, "USDC");
	const newCaller = async (chain: TestChain, held = amount) => {
		const account = await environment.newWallet({ chain, token: "USDC", amount: held });
		return { client, pins: before, account };
	};
	const across = (account: PrivateKeyAccount, [from, to] = [origin, destination]) =>
		swapIntent({ from: { chain: from, token: "USDC", amount }, to: { chain: to, token: "USDC" }, account });

	// At first the later contracts are only deployed, and no order contains them yet.
	const [known, twice, unsubmitted, quoted, paid, refused, back, unsubmittedBack] = await Promise.all([
		newCaller(origin, 3n * amount),
		newCaller(origin, 2n * amount),
		...Array.from({ length: 4 }, () => newCaller(origin)),
		...Array.from({ length: 2 }, () => newCaller(destination)),
	]);
	if (!twice || !unsubmitted || !quoted || !paid || !refused || !back || !unsubmittedBack)
		throw new Error("no wallets");
	const [deployed, first] = await Promise.all([
		deployLater(environment),
		doSwap(known, across(known.account)),
	]);
	expect(first.swap.status).toBe("settled");
	await expect.poll(() => escrowState(origin, idOf(first.signed)), patience).toBe("Released");
	const after = withChainDeployment(before, deployed);
	const later = chainAfter(origin, after.chains);
	const [old, now] = [origin.deployment.contracts, later.deployment.contracts];
	expect(now).toMatchObject({
		earlierDelegates: [old.delegate, old.typedDelegate],
		earlierEscrows: [old.escrow],
		earlierVaults: [old.vault],
	});

	// Orders are in flight at every step: not opened, not delivered, not released, and only to be refunded. The one that
	// is not opened has an authorization, which its wallet's other order has used up.
	await Promise.all(attesters.map((attester) => attester.stop()));
	const undeliverable = swapIntent({
		from: { chain: origin, token: "USDC", amount },
		to: { chain: destination, token: "ETH" },
		account: refused.account,
		recipient: await newRefuser(destination),
	});
	const [paidSigned, firstSigned, secondSigned, refusedSigned, backSigned] = await Promise.all([
		signSwap(paid, across(paid.account)),
		signSwap(twice, across(twice.account)),
		signSwap(twice, across(twice.account)),
		signSwap(refused, undeliverable),
		signSwap(back, across(back.account, [destination, origin])),
	]);
	const held = await Promise.all([
		holdBack(databaseUrl, secondSigned.quote.swapId),
		holdBack(databaseUrl, backSigned.quote.swapId, { kind: "fill" }),
	]);
	await Promise.all([
		submitSigned(paid, paidSigned),
		submitSigned(twice, firstSigned),
		submitSigned(twice, secondSigned),
		submitSigned(refused, refusedSigned),
		submitSigned(back, backSigned),
	]);
	for (const { quote } of [paidSigned, firstSigned])
		expect(await waitForSwap(client, quote.swapId)).toMatchObject({ status: "settled" });
	await expect
		.poll(() => getStatus(client, refusedSigned.quote.swapId), patience)
		.toMatchObject({ status: "pending", stage: "refunding" });
	await expect.poll(() => escrowState(destination, idOf(backSigned)), patience).toBe("Opened");
	for (const signed of [paidSigned, firstSigned, refusedSigned])
		expect(await escrowState(origin, idOf(signed))).toBe("Opened");
	expect(await escrowState(origin, idOf(secondSigned))).toBe("None");

	const earlierInventory = await tokenBalance(origin, usdcOf(origin), old.vault);

	// All processes that need the later contracts when the first order contains them are restarted before the API.
	await Promise.all([worker.stop(), audit.stop()]);
	const folder = dirname(environment.serverEnvironment.GEOSWAP_CONFIG ?? "");
	writeFileSync(join(folder, "deployment.json"), formatDeployment(after));
	await Promise.all([...attesters, worker, audit].map((process) => process.start()));
	await Promise.all(held.map(({ release }) => release()));
	const moved = await moveInventory(environment, { from: old.vault, to: now.vault });
	const [knownSigned, unsubmittedSigned, unsubmittedBackSigned] = await Promise.all([
		signSwap(known, across(known.account)),
		signSwap(unsubmitted, across(unsubmitted.account)),
		signSwap(unsubmittedBack, across(unsubmittedBack.account, [destination, origin])),
	]);
	const quote = await getQuote(client, across(quoted.account));
	await api.stop();
	await api.start();
	const offered = async () =>
		(await getChains(client)).chains.find(({ chainId }) => chainId === origin.chainId)?.contracts;
	await expect.poll(offered, patience).toMatchObject({ escrow: now.escrow, vault: now.vault });

	// Each op that was built for the earlier contracts is refused as a whole.
	for (const [caller, signed, chain] of [
		[unsubmitted, unsubmittedSigned, origin],
		[known, knownSigned, origin],
		[unsubmittedBack, unsubmittedBackSigned, destination],
	] as const) {
		await expect(submitSigned(caller, signed)).rejects.toMatchObject({
			code: "SIMULATION_FAILED",
			next: "requote",
			details: { reason: expect.stringContaining("contracts were replaced") },
		});
		await expect(getStatus(client, signed.quote.swapId)).rejects.toMatchObject({ code: "SWAP_NOT_FOUND" });
		expect(await escrowState(chain, idOf(signed))).toBe("None");
	}
	const building = buildOp(client, { geoQuoteToken: quote.geoQuoteToken });
	await expect(building).rejects.toMatchObject({ next: "requote" });
	expect(await codeOf(origin, unsubmitted.account)).toBeUndefined();
	expect(await tokenBalance(origin, usdcOf(origin), known.account.address)).toBe(2n * amount);

	// A wallet with an earlier delegate needs a new delegation. The SDK signs one only if the pins contain the new
	// delegate.
	const { address: walletAddress } = known.account;
	const accountNonce = await origin.publicClient.getTransactionCount({ address: walletAddress });
	expect(await getDelegation(client, { chainId: origin.chainId, walletAddress })).toMatchObject({
		delegated: true,
		delegatedTo: old.delegate,
		originReady: false,
		delegationTarget: now.delegate,
		typedDelegationTarget: now.typedDelegate,
		accountNonce,
	});
	const { geoQuoteToken } = await getQuote(client, across(known.account));
	await expect(buildOp(client, { geoQuoteToken })).rejects.toMatchObject({
		code: "NEEDS_DELEGATION",
		details: { delegationTarget: now.delegate, accountNonce },
	});
	const swapPinned = (account: PrivateKeyAccount, pins = after, [from, to] = [origin, destination]) =>
		swap(client, {
			originChain: from.chainId,
			destinationChain: to.chainId,
			inputToken: usdcOf(from),
			outputToken: usdcOf(to),
			amount,
			signer: account,
			pins,
		});
	await expect(swapPinned(known.account, before)).rejects.toBeInstanceOf(VerificationError);
	expect(await codeOf(origin, known.account)).toBe(delegatedTo(old.delegate));
	const inventoryBefore = await tokenBalance(origin, usdcOf(origin), now.vault);
	const ended = await Promise.all([
		swapPinned(known.account),
		swapPinned(unsubmitted.account),
		swapPinned(unsubmittedBack.account, after, [destination, origin]),
	]);
	expect(ended.map(({ status }) => status)).toEqual(["settled", "settled", "settled"]);
	for (const { account } of [known, unsubmitted])
		expect(await codeOf(origin, account)).toBe(delegatedTo(now.delegate));

	// The orders in flight end where they began.
	expect(await waitForSwap(client, backSigned.quote.swapId)).toMatchObject({ status: "settled" });
	const second = await waitForSwap(client, secondSigned.quote.swapId);
	expect(second.status).toBe("settled");
	const hash = second.originTxHash as Hex;
	expect(await origin.publicClient.getTransaction({ hash })).toMatchObject({
		type: "eip1559",
		to: old.escrow.toLowerCase(),
	});
	expect(await waitForSwap(client, refusedSigned.quote.swapId)).toMatchObject({
		status: "refunded",
		failure: { code: "RECIPIENT_REFUSED" },
	});
	await expectAllEnded(environment, { withinMs: patience.timeout });
	for (const signed of [paidSigned, firstSigned, secondSigned])
		expect(await escrowState(origin, idOf(signed))).toBe("Released");
	expect(await escrowState(origin, idOf(refusedSigned))).toBe("Refunded");
	expect(await escrowState(destination, idOf(backSigned))).toBe("Released");
	expect(await tokenBalance(origin, usdcOf(origin), refused.account.address)).toBe(amount);
	const delivered = async ({ account }: { account: PrivateKeyAccount }) =>
		tokenBalance(origin, usdcOf(origin), account.address);
	// Each vault got the inputs of the orders that contain it, and paid the output of one.
	const [backPaid, laterPaid] = [await delivered(back), await delivered(unsubmittedBack)];
	expect(await tokenBalance(origin, usdcOf(origin), old.vault)).toBe(
		earlierInventory - moved + 3n * amount - backPaid,
	);
	expect(await tokenBalance(origin, usdcOf(origin), now.vault)).toBe(
		inventoryBefore + 2n * amount - laterPaid,
	);
	for (const escrow of [old.escrow, now.escrow])
		expect(await tokenBalance(origin, usdcOf(origin), escrow)).toBe(0n);
	await expectBooksAgree(expect, environment);
});

/** Deploys the same code at other addresses, as a later version would be, with the current members of the roles. */
async function deployLater({ origin, keys }: OwnEnvironment): Promise<ChainDeployment> {
	const { contracts, attesterSet, deployedAtBlock: _, ...chain } = origin.deployment;
	const account = privateKeyToAccount(keys.deployer);
	const addressOf = (key: Hex) => privateKeyToAddress(key);
	return deployContracts({
		transport: http(origin.rpcUrl),
		account,
		earlier: origin.deployment,
		replace: true,
		salt: toHex("a later version", { size: 32 }),
		config: parseDeployConfig({
			...chain,
			permit2: contracts.permit2,
			attesterSet: { threshold: attesterSet.threshold, attesters: attesterSet.attesters },
			roles: {
				admin: account.address,
				operators: keys.relayers.slice(0, 2).map(addressOf),
				guardians: [addressOf(keys.guardian)],
				treasuries: [addressOf(keys.treasury)],
				configurers: [account.address],
				resumers: [account.address],
			},
			delays: { treasurySeconds: 0, configSeconds: 0, adminSeconds: 0 },
			outflowCaps: Object.fromEntries(chain.assets.map(({ symbol }) => [symbol, String(10n ** 24n)])),
		}),
	});
}

/** Moves the inventory of USDC as the treasury, except for what orders in flight need. Returns how much it moved. */
async function moveInventory(
	{ origin: chain, keys }: OwnEnvironment,
	{ from, to }: { from: Address; to: Address },
): Promise<bigint> {
	const token = assetAddress<Address>(chain, "USDC");
	const moved = (await tokenBalance(chain, token, from)) - keptInventory;
	const args = [token, to, moved] as const;
	const data = encodeFunctionData({ abi: geoVaultAbi, functionName: "withdraw", args });
	const account = privateKeyToAccount(keys.treasury);
	const { status } = await sendTransaction({ chain, account, to: from, data });
	expect(status).toBe("success");
	return moved;
}

function chainAfter(chain: TestChain, chains: readonly ChainDeployment[]): TestChain {
	const deployment = chains.find(({ chainId }) => chainId === chain.chainId);
	if (!deployment) throw new Error(`the deployment has no chain ${chain.chainId}`);
	return { ...chain, deployment };
}

function idOf({ build }: SignedSwap): string {
	return build.geoOp.orderId;
}

function codeOf({ publicClient }: TestChain, { address }: PrivateKeyAccount): Promise<Hex | undefined> {
	return publicClient.getCode({ address });
}

function delegatedTo(delegate: Address): Hex {
	return `0xef0100${delegate.slice(2).toLowerCase()}`;
}

/** Creates an address that takes no ether. */
async function newRefuser({ testClient }: TestChain): Promise<Address> {
	const address = privateKeyToAddress(generatePrivateKey());
	await testClient.setCode({ address, bytecode: "0x5f5ffd" });
	return address;
}
