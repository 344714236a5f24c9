import {
	encodeBundle,
	geoAccountAbi,
	geoEscrowAbi,
	geoVaultAbi,
	orderId,
	orderProof,
	packDeadlines,
	toWord,
} from "@geoswap/protocol";
import {
	decodeErrorResult,
	encodeErrorResult,
	encodeFunctionData,
	type Hex,
	keccak256,
	parseEther,
	parseEventLogs,
	slice,
	zeroAddress,
} from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readBalances, readInventory } from "../../src/chain/evm/read/read-balances.ts";
import { readBlock, readReceipts } from "../../src/chain/evm/read/read-block.ts";
import { readEvents } from "../../src/chain/evm/read/read-events.ts";
import { simulateBundle } from "../../src/chain/evm/send/simulate-bundle.ts";
import { readWallet } from "../../src/chain/evm/wallet/read-wallet.ts";
import { simulateSigned, simulateUnsigned } from "../../src/chain/evm/wallet/simulate-open.ts";
import { readDelegation } from "../../src/chain/evm/wallet/wallet-delegation.ts";
import { RpcFailure } from "../sim-chain.ts";
import { createEvmScene, type EvmScene, type EvmSubject, type RawLog } from "./evm-contract-scene.ts";
import { tokenAbi } from "./token-abi.ts";

const openingErrors = [...geoEscrowAbi, ...geoAccountAbi];

/** The kind of a cap on fills, as the vault numbers the kinds. */
const fillCap = 0;

/** Records an answer, to be compared with another chain's. */
type Note = (what: string, answer: unknown) => void;

/**
 * Tests what every chain that the server uses must do, real or simulated. The answers of each story are put into
 * `said`. Two chains that began in the same second with the same contracts must have given the same answers.
 */
export function evmChainContract(startSubject: () => Promise<EvmSubject>, said: Map<string, unknown>): void {
	let subject: EvmSubject;
	beforeAll(async () => {
		subject = await startSubject();
	});
	afterAll(() => subject.stop());

	const story = (title: string, run: (scene: EvmScene, note: Note) => Promise<void>) =>
		test(title, async () => {
			const answers: unknown[] = [];
			said.set(title, answers);
			await run(await createEvmScene(subject, title), (what, answer) => answers.push([what, plain(answer)]));
		});

	/** Delegates the wallet and gives it 100 USDC. */
	const delegated = async (scene: EvmScene, delegate = scene.delegate) => {
		const { wallet, relayer, land, authorize, mint } = scene;
		await mint("USDC", wallet.address, 100_000_000n);
		const authorizationList = [await authorize(wallet, 0, delegate)];
		await land(relayer, { to: relayer.address, authorizationList });
	};

	story("a first swap's authorization delegates its wallet, and its order is opened", async (scene, note) => {
		const { wallet, relayer, land, mint, authorize, openMany, signedOpening, chain } = scene;
		await mint("USDC", wallet.address, 100_000_000n);
		const order = await scene.makeOrder();
		expect(await readDelegation(chain, wallet.address)).toEqual({ kind: "none" });
		const bundle = openMany([await signedOpening(order)]);
		const receipt = await land(relayer, { ...bundle, authorizationList: [await authorize(wallet, 0)] });
		expect(receipt.status).toBe("0x1");
		expect(receipt.type).toBe("0x4");
		note("logs", logsOf(receipt.logs));
		note("delegation", await readDelegation(chain, wallet.address));
		note("nonce", await scene.nonceOf(wallet.address));
		note("code", await scene.request("eth_getCode", [wallet.address, "latest"]));
		note("reading", await readWallet({ chain, order, unopened: [] }));
		const { events } = await readEvents(chain, { blockHash: receipt.blockHash });
		expect(events.map(({ name }) => name)).toEqual(["Opened"]);
		// Blocks have other numbers on the two chains.
		const inReceipt = events.map(({ blockNumber: _, blockHash: __, ...event }) => event);
		note("events", inReceipt);
		const { receipts } = await readReceipts(chain, {
			blockHash: receipt.blockHash,
			hashes: [(await readBlock(chain, "latest")).transactionHashes[0] as Hex],
		});
		const [cost] = receipts;
		expect(cost?.events).toEqual(inReceipt);
		expect(cost?.gasCost).toBe(BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice));
		expect(cost?.gasCost).toBeGreaterThan(0n);
	});

	story(
		"a stale authorization is skipped, and the order of a delegated wallet is still opened",
		async (scene, note) => {
			const { wallet, relayer, land, authorize, openMany, signedOpening } = scene;
			await delegated(scene);
			const order = await scene.makeOrder();
			const bundle = openMany([await signedOpening(order)]);
			const receipt = await land(relayer, { ...bundle, authorizationList: [await authorize(wallet, 0)] });
			expect(receipt.status).toBe("0x1");
			note("logs", logsOf(receipt.logs));
			note("nonce", await scene.nonceOf(wallet.address));
			const other = await authorize(wallet, 1, zeroAddress);
			await land(relayer, { to: relayer.address, authorizationList: [other] });
			note("undelegated", await readDelegation(scene.chain, wallet.address));
			note("nonce then", await scene.nonceOf(wallet.address));
		},
	);

	story("an authorization takes effect even if its transaction reverts", async (scene, note) => {
		const { wallet, relayer, land, authorize, openFor, signedOpening } = scene;
		const stranger = scene.walletOf("stranger");
		const forged = openFor(await signedOpening(await scene.makeOrder(), { signer: stranger }));
		const receipt = await land(relayer, { ...forged, authorizationList: [await authorize(wallet, 0)] });
		expect([receipt.status, receipt.logs]).toEqual(["0x0", []]);
		note("delegation", await readDelegation(scene.chain, wallet.address));
	});

	story(
		"anyone opens an order that its wallet signed, once, as typed data or by personal_sign",
		async (scene, note) => {
			const { wallet, relayer, land, openFor, openMany, signedOpening, call } = scene;
			const stranger = scene.walletOf("stranger");
			const order = await scene.makeOrder();
			const good = await signedOpening(order);
			const reasonOf = async (opening: typeof good) => {
				const answer = await call(stranger.address, openFor(opening));
				note("answer", answer);
				if ("said" in answer || answer.reverts === "0x") return answer;
				const { errorName, args } = decodeErrorResult({ abi: openingErrors, data: answer.reverts });
				return [errorName, ...(args ?? [])];
			};
			expect(await reasonOf(good)).toEqual({ reverts: "0x" });
			await delegated(scene);
			const forged = await signedOpening(order, { signer: stranger });
			expect(await reasonOf(forged)).toEqual(["WrongSigner", stranger.address]);
			expect(await reasonOf({ ...good, proof: "0x1234" })).toEqual(["InvalidProof"]);
			const asTyped = orderProof({ kind: "typed", signature: slice(good.proof, 1) });
			expect(await reasonOf({ ...good, proof: asTyped })).toMatchObject(["WrongSigner", expect.anything()]);
			const other = await scene.makeOrder();
			expect(await reasonOf({ ...good, terms: (await signedOpening(other)).terms })).toMatchObject([
				"WrongSigner",
				expect.anything(),
			]);
			expect(await reasonOf(await signedOpening(order, { kind: "typed" }))).toEqual({ said: orderId(order) });
			await scene.subject.giveNative(stranger.address, parseEther("1"));
			note("opened", logsOf((await land(stranger, openFor(good))).logs));
			expect(await reasonOf(good)).toEqual(["AlreadyOpened", orderId(order)]);
			const typed = await land(relayer, openMany([await signedOpening(other, { kind: "typed" })]));
			note("typed", logsOf(typed.logs));
			note("order", await stateOf(scene, "escrow", orderId(other)));
			note("from a delegated account", await call(wallet.address, openFor(good)));
		},
	);

	story("the typed-only account pays for no order signed by personal_sign", async (scene, note) => {
		const { relayer, land, openFor, signedOpening, call } = scene;
		await delegated(scene, scene.typedDelegate);
		note("delegation", await readDelegation(scene.chain, scene.wallet.address));
		const order = await scene.makeOrder();
		expect(await call(relayer.address, openFor(await signedOpening(order)))).toEqual({
			reverts: encodeErrorResult({ abi: geoAccountAbi, errorName: "Opaque" }),
		});
		const opened = await land(relayer, openFor(await signedOpening(order, { kind: "typed" })));
		note("opened", logsOf(opened.logs));
	});

	story(
		"a batch opens the orders that are paid for, names the others with a reason, and reverts if its gas may not suffice",
		async (scene, note) => {
			const { wallet, relayer, land, openMany, signedOpening } = scene;
			await delegated(scene);
			const poor = await scene.makeOrder({ inputAmount: 200_000_000n });
			const orders = {
				poor,
				fine: await scene.makeOrder(),
				weth: await scene.makeOrder({ inputToken: toWord(scene.asset("WETH")) }),
				usdt: await scene.makeOrder({ inputToken: toWord(scene.asset("USDT")) }),
				native: await scene.makeOrder({ inputToken: toWord(zeroAddress) }),
			};
			const openings = await Promise.all(Object.values(orders).map((order) => signedOpening(order)));
			const [first, second] = openings as [(typeof openings)[number], (typeof openings)[number]];
			const starved = await signedOpening(await scene.makeOrder(), { gas: 30_000n });
			const bundle = openMany([...openings, second, starved]);
			const short = await land(relayer, { ...bundle, gas: 400_000n });
			expect([short.status, short.logs]).toEqual(["0x0", []]);
			const receipt = await land(relayer, bundle);
			expect(receipt.status).toBe("0x1");
			note("logs", logsOf(receipt.logs));
			const notOpened = parseEventLogs({
				abi: geoEscrowAbi,
				eventName: "NotOpened",
				logs: receipt.logs as never,
			});
			expect(notOpened.map(({ args }) => args.reason)).toHaveLength(6);
			note("balance", await scene.balanceOf("USDC", wallet.address));
			note("order", await stateOf(scene, "escrow", orderId(poor)));
			await scene.mint("USDC", wallet.address, 200_000_000n);
			note("once it is paid for", logsOf((await land(relayer, openMany([first]))).logs));
		},
	);

	story("the escrow opens an order once, in time and for the whole amount", async (scene, note) => {
		const { wallet, asset, escrow } = scene;
		const order = await scene.makeOrder();
		note("opened", logsOf((await scene.openOrder(order)).logs));
		const { deadlines: _, ...terms } = order;
		const at = await scene.now();
		const open = (change: object, value = 0n) => ({
			to: escrow,
			value,
			data: encodeFunctionData({
				abi: geoEscrowAbi,
				functionName: "open",
				args: [{ ...terms, deadlines: order.deadlines, ...change }],
			}),
		});
		const times = (openDeadline: bigint, fillDeadline: bigint, refundAfter: bigint) =>
			(openDeadline << 128n) | (fillDeadline << 64n) | refundAfter;
		const tries = {
			again: open({}),
			late: open({ deadlines: times(at - 1n, at + 10n, at + 20n) }),
			long: open({ deadlines: times(at + 1n, at + 10n, at + 3n * 86_400n + 9n) }),
			disordered: open({ deadlines: times(at + 10n, at + 10n, at + 20n) }),
			nothing: open({ inputAmount: 0n }),
			huge: open({ inputAmount: 1n << 128n }),
			"no output": open({ minOutput: 0n }),
			"no allowance": open({ minOutput: 1n }),
			"with ether": open({ minOutput: 1n }, 5n),
			"wrong ether": open({ inputToken: toWord(zeroAddress) }, 5n),
			"no token": open({ inputToken: toWord(wallet.address) }),
			"a Solana token": open({ inputToken: `0x${"11".repeat(32)}` }),
			"a Solana vault": open({ originVault: `0x${"11".repeat(32)}` }),
		};
		for (const [name, attempt] of Object.entries(tries)) {
			const answer = await scene.call(wallet.address, attempt);
			expect(answer, name).toHaveProperty("reverts");
			note(name, answer);
		}
		const native = await scene.makeOrder({ inputToken: toWord(zeroAddress), inputAmount: 1_000n });
		note("native", logsOf((await scene.openOrder(native)).logs));
		note(
			"held",
			await readBalances(scene.chain, {
				holders: [escrow],
				tokens: [zeroAddress],
				blockNumber: (await readBlock(scene.chain, "latest")).number,
			}),
		);
		note(
			"allowance",
			await scene.chain.client.readContract({
				address: asset("USDC"),
				abi: tokenAbi,
				functionName: "allowance",
				args: [wallet.address, escrow],
			}),
		);
	});

	story(
		"a list of fills delivers what it can and reports which items it skipped and why",
		async (scene, note) => {
			const { relayer, wallet, fillMany, land, asset, vault } = scene;
			const refusing = scene.walletOf("refusing").address;
			await scene.subject.refuseAll(refusing);
			const at = await scene.now();
			const done = await scene.makeFillable();
			await land(relayer, fillMany([{ order: done, amount: 9_900_000n }]));
			const deadlines = packDeadlines({ openDeadline: at - 3n, fillDeadline: at, refundAfter: at + 5n });
			const items = {
				fine: await scene.makeFillable(),
				decided: done,
				expired: await scene.makeFillable({ deadlines }),
				"too little": await scene.makeFillable({ minOutput: 10_000_000n }),
				"other vault": await scene.makeFillable({ destinationVault: toWord(wallet.address) }),
				"no address": await scene.makeFillable({ outputToken: `0x${"11".repeat(32)}` }),
				"not a token": await scene.makeFillable({ outputToken: toWord(wallet.address) }),
				"to zero": await scene.makeFillable({ recipient: toWord(zeroAddress) }),
				"to the vault": await scene.makeFillable({ recipient: toWord(vault) }),
				native: await scene.makeFillable({ outputToken: toWord(zeroAddress) }),
				refused: await scene.makeFillable({ outputToken: toWord(zeroAddress), recipient: toWord(refusing) }),
				usdt: await scene.makeFillable({ outputToken: toWord(asset("USDT")) }),
				weth: await scene.makeFillable({ outputToken: toWord(asset("WETH")) }),
				"not open here": await scene.makeFillable({
					originChainId: BigInt(scene.chainId),
					escrow: toWord(scene.escrow),
				}),
				"wrong escrow": await scene.makeFillable({ originChainId: BigInt(scene.chainId) }),
			};
			const fills = Object.values(items).map((order) => ({ order, amount: 9_900_000n }));
			fills.push({ order: await scene.makeFillable(), amount: 0n });
			const bundle = fillMany(fills);
			const simulation = await simulateBundle(scene.chain, {
				from: relayer.address,
				bundle: scene.fillBundle(fills),
				orders: fills.map(({ order }) => ({ order, orderId: orderId(order) })),
			});
			const receipt = await land(relayer, bundle);
			expect(receipt.status).toBe("0x1");
			note("logs", logsOf(receipt.logs));
			const { blockHash, transactionHash } = receipt;
			const { receipts } = await readReceipts(scene.chain, { blockHash, hashes: [transactionHash] });
			const events = receipts.flatMap((one) => one.events);
			expect(events.filter(({ name }) => name === "Filled")).toHaveLength(4);
			expect(events.filter(({ name }) => name === "Skipped")).toHaveLength(12);
			expect(simulation).toMatchObject({
				succeeds: true,
				done: new Set(events.flatMap(({ name, orderId: id }) => (name === "Filled" ? id : []))),
				skips: new Map(
					events.flatMap((event) => (event.name === "Skipped" ? [[event.orderId, event.data.reason]] : [])),
				),
			});
			note("events", events);
			note(
				"alone",
				await scene.call(relayer.address, {
					to: vault,
					data: encodeFunctionData({
						abi: geoVaultAbi,
						functionName: "fill",
						args: [{ order: done, amount: 1n, minOutput: 0n, poolFee: 0, secondPoolFee: 0 }],
					}),
				}),
			);
			note("by a stranger", await scene.call(wallet.address, bundle));
		},
	);

	story(
		"on one chain a fill releases the order, and a void or the fill deadline lets anyone refund it",
		async (scene, note) => {
			const { relayer, land, fillMany, vault } = scene;
			const here = { destinationChainId: BigInt(scene.chainId), destinationVault: toWord(vault) };
			const filled = await scene.makeOrder(here);
			await scene.openOrder(filled);
			note("filled", logsOf((await land(relayer, fillMany([{ order: filled, amount: 9_900_000n }]))).logs));
			note(
				"release by attesters",
				await scene.call(relayer.address, await scene.decideMany("Release", [filled])),
			);
			const voided = await scene.makeOrder(here);
			await scene.openOrder(voided);
			note("early", await scene.call(relayer.address, scene.refund(voided)));
			const attested = await land(relayer, await scene.decideMany("Release", [voided]));
			note("attested release of one chain", logsOf(attested.logs));
			const voidBoth = {
				to: vault,
				data: encodeFunctionData({
					abi: geoVaultAbi,
					functionName: "voidMany",
					args: [[voided, filled, await scene.makeOrder()]],
				}),
			};
			note("void", logsOf((await land(relayer, voidBoth)).logs));
			note(
				"fill of void",
				logsOf((await land(relayer, fillMany([{ order: voided, amount: 9_900_000n }]))).logs),
			);
			note("refund", logsOf((await land(relayer, scene.refund(voided))).logs));
			const expired = await scene.makeOrder(here);
			await scene.openOrder(expired);
			note("expired", logsOf((await land(relayer, scene.refund(expired), { secondsLater: 120 })).logs));
			note("state", await stateOf(scene, "escrow", orderId(expired)));
		},
	);

	story(
		"lists are released and refunded once, and only with enough signatures of the right attesters",
		async (scene, note) => {
			const { relayer, land, decideMany, call, keys } = scene;
			const [one, other] = [await scene.makeOrder(), await scene.makeOrder()];
			await scene.openOrder(one);
			await scene.openOrder(other);
			const [first, second, third] = keys.attesters as [Hex, Hex, Hex];
			const tries = {
				"one signature": { signers: [first] },
				"twice the same": { signers: [first, first] },
				"wrong order": { signers: [second, first] },
				"a stranger": { signers: [first, keys.deployer] },
				"no threshold": { threshold: 0, signers: [] },
			};
			for (const [name, options] of Object.entries(tries)) {
				const answer = await call(relayer.address, await decideMany("Release", [one], options));
				expect(answer, name).toHaveProperty("reverts");
				note(name, answer);
			}
			const low = await land(relayer, await decideMany("Release", [one], { threshold: 1, signers: [first] }));
			note("another set is passed over", logsOf(low.logs));
			const broken = await scene.attestation("Release", [one]);
			const single = (signatures: Hex[], fn: "release" | "refundEarly" = "release") => ({
				to: scene.escrow,
				data: encodeFunctionData({
					abi: geoEscrowAbi,
					functionName: fn,
					args: [one, { ...broken, signatures }],
				}),
			});
			note("short", await call(relayer.address, single(["0x1234", "0x1234"])));
			note(
				"for release, not refund",
				await call(relayer.address, single([...broken.signatures], "refundEarly")),
			);
			const released = await land(
				relayer,
				await decideMany("Release", [one, one], { signers: [second, third] }),
			);
			note("released", logsOf(released.logs));
			note("again", logsOf((await land(relayer, await decideMany("Release", [one]))).logs));
			note("release alone", await call(relayer.address, single([...broken.signatures])));
			note("refunded", logsOf((await land(relayer, await decideMany("Refund", [other, one]))).logs));
			note("wallet", await scene.balanceOf("USDC", scene.wallet.address));
		},
	);

	story("anyone can refund after refundAfter, and nobody before", async (scene, note) => {
		const { relayer, land, call, refund } = scene;
		const order = await scene.makeOrder();
		await scene.openOrder(order);
		note("early", await call(relayer.address, refund(order)));
		const receipt = await land(scene.walletOf("wallet"), refund(order), { secondsLater: 200 });
		note("late", logsOf(receipt.logs));
		note("again", await call(relayer.address, refund(order)));
	});

	story("a payout that fails is credited to its beneficiary", async (scene, note) => {
		const { relayer, land, escrow, wallet } = scene;
		const nowhere = await scene.makeOrder({ originVault: toWord(zeroAddress) });
		await scene.openOrder(nowhere);
		note("credited", logsOf((await land(relayer, await scene.decideMany("Release", [nowhere]))).logs));
		const refuser = scene.walletOf("refuser").address;
		await scene.subject.refuseAll(refuser);
		const native = await scene.makeOrder({
			inputToken: toWord(zeroAddress),
			inputAmount: 5_000n,
			originVault: toWord(refuser),
		});
		await scene.openOrder(native);
		note("native", logsOf((await land(relayer, await scene.decideMany("Release", [native]))).logs));
		const claim = (token: Hex, beneficiary: Hex) => ({
			to: escrow,
			data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "claim", args: [token, beneficiary] }),
		});
		note("claim fails", await scene.call(relayer.address, claim(zeroAddress, refuser)));
		note("nothing", await scene.call(relayer.address, claim(zeroAddress, wallet.address)));
		note(
			"credit",
			await scene.chain.client.readContract({
				address: escrow,
				abi: geoEscrowAbi,
				functionName: "credit",
				args: [zeroAddress, refuser],
			}),
		);
	});

	story(
		"the vault pays out at most its cap per hour, and nothing while it is paused",
		async (scene, note) => {
			const { relayer, land, call, fillMany, vault, keys, asset, account } = scene;
			const vaultCall = (functionName: "pause" | "unpause") => ({
				to: vault,
				data: encodeFunctionData({ abi: geoVaultAbi, functionName }),
			});
			const orb = asset("ORB");
			const cap = {
				to: vault,
				data: encodeFunctionData({
					abi: geoVaultAbi,
					functionName: "setCap",
					args: [fillCap, orb, zeroAddress, 3_600_000n],
				}),
			};
			note("cap", logsOf((await land(account(keys.deployer), cap)).logs));
			note("cap by another", await call(relayer.address, cap));
			const make = () => scene.makeFillable({ outputToken: toWord(orb), minOutput: 1n });
			const fills = [
				{ order: await make(), amount: 3_000_000n },
				{ order: await make(), amount: 600_001n },
				{ order: await make(), amount: 600_000n },
			];
			note("fills", logsOf((await land(relayer, fillMany(fills))).logs));
			const at = (await readBlock(scene.chain, "latest")).number;
			note(
				"left",
				await readInventory(scene.chain, { blockNumber: at }).then((all) =>
					all.map((one) => one.outflowAvailable > 0n),
				),
			);
			const later = fillMany([
				{ order: await make(), amount: 60_001n },
				{ order: await make(), amount: 60_000n },
			]);
			note("a minute later", logsOf((await land(relayer, later, { secondsLater: 60 })).logs));
			note("pause", logsOf((await land(account(keys.guardian), vaultCall("pause"))).logs));
			const one = fillMany([{ order: await make(), amount: 1n }]);
			note("paused", await call(relayer.address, one));
			note("paused again", await call(account(keys.guardian).address, vaultCall("pause")));
			const voidOne = {
				to: vault,
				data: encodeFunctionData({ abi: geoVaultAbi, functionName: "voidMany", args: [[await make()]] }),
			};
			note("void while paused", logsOf((await land(relayer, voidOne)).logs));
			note("unpause by the guardian", await call(account(keys.guardian).address, vaultCall("unpause")));
			note("unpause", logsOf((await land(account(keys.deployer), vaultCall("unpause"))).logs));
			note("unpause again", await call(account(keys.deployer).address, vaultCall("unpause")));
			note("fill", logsOf((await land(relayer, one)).logs));
			const withdraw = {
				to: vault,
				data: encodeFunctionData({
					abi: geoVaultAbi,
					functionName: "withdraw",
					args: [orb, relayer.address, 5n],
				}),
			};
			note("withdraw", logsOf((await land(account(keys.treasury), withdraw)).logs));
		},
	);

	story("simulations answer as the chain would and change nothing", async (scene, note) => {
		const { chain, wallet, delegate, relayer, vault } = scene;
		await scene.mint("USDC", wallet.address, 100_000_000n);
		const order = await scene.makeOrder();
		const opens = await simulateUnsigned({ chain, order });
		expect(opens.opens && opens.gasUsed).toBeGreaterThan(21_000n);
		const poor = await scene.makeOrder({ inputAmount: 200_000_000n });
		note("poor", await simulateUnsigned({ chain, order: poor }));
		const { proof } = await scene.signedOpening(order);
		const { r, s, yParity, nonce } = await scene.authorize(wallet, 0);
		const authorization = {
			address: delegate,
			chainId: BigInt(scene.chainId),
			nonce: BigInt(nonce),
			r,
			s,
			yParity: BigInt(yParity ?? 0),
		};
		expect((await simulateSigned({ chain, order, proof, authorization })).opens).toBe(true);
		note("unsigned", await simulateSigned({ chain, order, proof: "0x12", authorization }));
		note("without a delegation", await simulateSigned({ chain, order, proof }));
		note("undelegated", await readDelegation(chain, wallet.address));
		const fillable = await scene.makeFillable();
		const bundle = scene.fillBundle([{ order: fillable, amount: 9_900_000n }]);
		const { data } = encodeBundle(bundle);
		const orders = [{ order: fillable, orderId: orderId(fillable) }];
		note("refused", await simulateBundle(chain, { from: wallet.address, bundle, orders }));
		const shape = async (from: Hex) => {
			const blocks = (await scene.request("eth_simulateV1", [
				{ blockStateCalls: [{ calls: [{ from, to: vault, data }] }] },
				"latest",
			])) as { calls: { status: Hex; logs: RawLog[]; returnData: Hex; error?: { data?: Hex } }[] }[];
			return blocks.map(({ calls }) =>
				calls.map(({ status, logs, returnData, error }) => ({
					status,
					logs: logsOf(logs),
					data: error?.data ?? returnData,
				})),
			);
		};
		note("shape", await shape(relayer.address));
		note("shape of a revert", await shape(wallet.address));
	});

	story(
		"a node refuses spent nonces and cheap replacements, and holds back what is behind a nonce gap",
		async (scene, note) => {
			const { subject, relayer, request, nonceOf, sign, offer } = scene;
			const sender = scene.walletOf("sender");
			await subject.giveNative(sender.address, parseEther("1"));
			const nothing = { to: relayer.address, gas: 21_000n };
			note("gap", await offer(sender, { ...nothing, nonce: 2 }));
			note("pending with a gap", await nonceOf(sender.address, "pending"));
			note("first", await offer(sender, { ...nothing, nonce: 0 }));
			note("known", await offer(sender, { ...nothing, nonce: 0 }));
			note("cheaper", await offer(sender, { ...nothing, nonce: 0, feeGwei: "19" }));
			note("replaced", await offer(sender, { ...nothing, nonce: 0, feeGwei: "40", value: 1n }));
			note("pending", await nonceOf(sender.address, "pending"));
			await subject.mine(1);
			expect(await nonceOf(sender.address)).toBe(1);
			const replacement = await sign(sender, { ...nothing, nonce: 0, feeGwei: "40", value: 1n });
			note("mined", Boolean(await scene.receiptOf(keccak256(replacement))));
			note("was replaced", await scene.receiptOf(keccak256(await sign(sender, { ...nothing, nonce: 0 }))));
			note("spent", await offer(sender, { ...nothing, nonce: 0 }));
			note("sent again", await offer(sender, { ...nothing, nonce: 0, feeGwei: "40", value: 1n }));
			note("fills the gap", await offer(sender, { ...nothing, nonce: 1 }));
			await subject.mine(1);
			note("both", await nonceOf(sender.address));
			const before = numberOfBlock(await request("eth_blockNumber", [])) - 1;
			note("earlier", await request("eth_getTransactionCount", [sender.address, `0x${before.toString(16)}`]));
			const poor = scene.walletOf("poor");
			note("unfunded", await offer(poor, { ...nothing, nonce: 0 }));
			note("little gas", await offer(sender, { ...nothing, gas: 20_000n, nonce: 3 }));
			await expect(request("eth_sendRawTransaction", ["0x1234"])).rejects.toThrow(RpcFailure);
		},
	);

	story(
		"balances of earlier blocks can be read, and the final block is behind the latest",
		async (scene, note) => {
			const { chain, wallet, mint, subject } = scene;
			await mint("USDC", wallet.address, 7n);
			const then = await readBlock(chain, "latest");
			await mint("USDC", wallet.address, 5n);
			for (let i = 0; i < 4; i++) await subject.mine(1);
			const latest = await readBlock(chain, "latest");
			const finalized = await readBlock(chain, "finalized");
			expect(latest.number - finalized.number).toBe(4);
			expect((await readBlock(chain, then.number)).hash).toBe(then.hash);
			expect((await readBlock(chain, then.number + 1)).parentHash).toBe(then.hash);
			const at = { holders: [wallet.address], tokens: [scene.asset("USDC")] };
			note("then", await readBalances(chain, { ...at, blockNumber: then.number }));
			note("now", await readBalances(chain, { ...at, blockNumber: latest.number }));
			note(
				"future",
				await scene.request("eth_getBlockByNumber", [`0x${(latest.number + 9).toString(16)}`, false]),
			);
			note("no receipt", await scene.request("eth_getTransactionReceipt", [`0x${"00".repeat(32)}`]));
		},
	);

	story("a transaction that a reorg drops is gone, and can be sent again", async (scene, note) => {
		const { chain, subject, relayer, request, receiptOf, nonceOf } = scene;
		await subject.mine(1);
		const order = await scene.makeFillable();
		const nonce = await nonceOf(relayer.address);
		const before = await readBlock(chain, "latest");
		const raw = await scene.sign(relayer, { ...scene.fillMany([{ order, amount: 9_900_000n }]), nonce });
		await request("eth_sendRawTransaction", [raw]);
		await subject.mine(1);
		await subject.mine(1);
		const filled = await receiptOf(keccak256(raw));
		expect(filled?.status).toBe("0x1");
		await subject.reorg(2);
		expect(await receiptOf(keccak256(raw))).toBeNull();
		expect(await nonceOf(relayer.address)).toBe(nonce);
		note("state", await stateOf(scene, "vault", orderId(order)));
		const latest = await readBlock(chain, "latest");
		expect(latest.number).toBe(before.number + 2);
		expect((await readBlock(chain, before.number)).hash).toBe(before.hash);
		note("block", await request("eth_getBlockByHash", [filled?.blockHash, false]));
		await request("eth_sendRawTransaction", [raw]);
		await subject.mine(1);
		const again = await receiptOf(keccak256(raw));
		note("again", logsOf(again?.logs ?? []));
		note("state then", await stateOf(scene, "vault", orderId(order)));
	});
}

function stateOf({ chain, escrow, vault }: EvmScene, which: "escrow" | "vault", id: Hex): Promise<number> {
	const functionName = "orderState" as const;
	return which === "escrow"
		? chain.client.readContract({ address: escrow, abi: geoEscrowAbi, functionName, args: [id] })
		: chain.client.readContract({ address: vault, abi: geoVaultAbi, functionName, args: [id] });
}

function numberOfBlock(hex: unknown): number {
	return Number(hex as Hex);
}

function logsOf(logs: readonly RawLog[]) {
	return logs.map(({ address, topics, data }) => ({ address: address.toLowerCase(), topics, data }));
}

/** Returns the answer as JSON has it, without hashes of blocks and transactions. */
function plain(answer: unknown): unknown {
	const hidden = new Set(["transactionHash", "blockHash", "gasUsed"]);
	const text = JSON.stringify(answer ?? null, (key, value: unknown) =>
		hidden.has(key) ? undefined : typeof value === "bigint" ? String(value) : value,
	);
	return JSON.parse(text);
}
