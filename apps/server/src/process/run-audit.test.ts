import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { portSource, startTestChains } from "@geoswap/devnet";
import { formatDeployment, geoEscrowAbi, moneyEventTopics, toWord } from "@geoswap/protocol";
import {
	type Address,
	decodeFunctionData,
	encodeAbiParameters,
	encodeFunctionResult,
	type Hex,
	multicall3Abi,
	numberToHex,
	zeroHash,
} from "viem";
import { expect, onTestFinished, test, vi } from "vitest";
import { createTestDatabase } from "../../test/service/test-database.ts";
import { readPauses } from "../swap/pause/pauses.ts";

const isFull = Boolean(process.env.GEOSWAP_FULL);
const dustOrders = isFull ? 1_000_000 : 20_000;
/**
 * The process needs no more than this, regardless of what strangers do. Its heap is kept small, so that garbage does
 * not count.
 */
const maxResidentMb = 256;
const heapLimits = ["--max-old-space-size=72", "--max-semi-space-size=2"];

const firstBlock = 1_000;
const ordersPerBlock = 100;
/** The stub refuses to list more, like providers. */
const maxLogs = 2_000;

test(`an audit ends within ${maxResidentMb} MB, and counts every order, while a third party has ${dustOrders} orders open`, async () => {
	const { deployment, stop } = await startTestChains();
	await stop();
	const [chain] = deployment.chains;
	const usdc = chain?.assets.find(({ symbol }) => symbol === "USDC")?.address;
	if (!chain || !usdc) throw new Error("the test chains have no USDC");
	const { chainId } = chain;
	const lastBlock = firstBlock + dustOrders / ordersPerBlock;
	// One less than all orders together, so that the audit finds this only if it counts every one of them.
	const inEscrow = BigInt(dustOrders) - 1n;
	const node = await startDustNode({ chainId, escrow: chain.contracts.escrow, usdc, lastBlock, inEscrow });
	const database = await createTestDatabase({ as: "auditor" });
	onTestFinished(() => database.drop());
	await database.owner.query(
		`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
			booked_number) values ($1, $2, '', $3, 1, $2, $3, $2)`,
		[chainId, lastBlock, Math.floor(Date.now() / 1_000)],
	);

	const folder = mkdtempSync(join(tmpdir(), "geoswap-audit-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	const own = { ...chain, deployedAtBlock: firstBlock };
	writeFileSync(join(folder, "deployment.json"), formatDeployment({ ...deployment, chains: [own] }));
	const metricsPort = await portSource()();
	const config = join(folder, "config.json");
	writeFileSync(
		config,
		JSON.stringify({
			deployment: "deployment.json",
			chains: {
				[chainId]: {
					nodes: [{ url: node.url }],
					finalitySeconds: 5,
					openSeconds: 75,
					fillSeconds: 45,
					refundSeconds: 30,
				},
			},
			api: { port: 0 },
			worker: { port: 0 },
			audit: { everySeconds: 3_600, confirmSeconds: 0, metrics: { port: metricsPort } },
			database: { roles: database.roles },
			restate: { ingressUrl: "http://127.0.0.1:9", adminUrl: "http://127.0.0.1:9" },
		}),
	);
	const main = join(import.meta.dirname, "../main.ts");
	const args = [...heapLimits, main, "audit", "--config", config];
	const env = {
		PATH: process.env.PATH,
		NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
		AUDITOR_DATABASE_URL: database.urls.auditor,
	};
	const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
	onTestFinished(() => {
		child.kill("SIGKILL");
	});
	const said = Promise.all([text(child.stdout), text(child.stderr)]);

	// The pause needs two audits that read everything.
	await vi.waitFor(
		async () => {
			if (child.exitCode !== null) throw new Error(`it ended: ${(await said).join("\n").slice(-2_000)}`);
			expect(await readPauses(database.pool)).toMatchObject([
				{ chainId, breaches: [expect.stringContaining("is short of 1 USDC")] },
			]);
		},
		{ timeout: 1_500_000, interval: 200 },
	);
	const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
	expect(metrics).toContain(`geoswap_audit_breaches{invariant="I1",chain="${chainId}"} 1`);
	expect(metrics).toContain(`geoswap_audit_failures_total{chain="${chainId}"} 0`);
	const [, peakKb] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
	console.log(
		`${dustOrders} orders: ${node.requests()} requests, at most ${Number(peakKb) / 1_024} MB resident`,
	);
	expect(Number(peakKb) / 1_024).toBeLessThan(maxResidentMb);
	child.kill("SIGTERM");
	await once(child, "exit");
	expect(child.exitCode).toBe(0);
}, 1_800_000);

/** Starts a node whose chain contains only orders of one unit, each opened by a stranger. */
async function startDustNode({
	chainId,
	escrow,
	usdc,
	lastBlock,
	inEscrow,
}: {
	chainId: number;
	escrow: Address;
	usdc: Address;
	lastBlock: number;
	/** How much of USDC the escrow holds. */
	inEscrow: bigint;
}): Promise<{ url: string; requests: () => number }> {
	const stranger = toWord(`0x${"57".repeat(20)}`);
	const opened = geoEscrowAbi.find((item) => item.type === "event" && item.name === "Opened");
	if (opened?.type !== "event") throw new Error("the escrow has no event Opened");
	const terms = opened.inputs.filter(({ name }) => name === "terms");
	const data = encodeAbiParameters(terms, [
		{
			destinationChainId: 1n,
			originVault: stranger,
			destinationVault: stranger,
			attesterSet: zeroHash,
			inputToken: toWord(usdc),
			inputAmount: 1n,
			outputToken: stranger,
			minOutput: 1n,
			recipient: stranger,
			topUp: 0n,
			swapKey: zeroHash,
			deadlines: 1n,
		},
	] as never);
	const topic = moneyEventTopics().Opened;
	const logAt = (i: number) => {
		const id = `0x${hash("sha256", String(i))}`;
		const block = numberToHex(firstBlock + Math.floor(i / ordersPerBlock));
		return `{"address":"${escrow}","blockHash":"${zeroHash}","blockNumber":"${block}","logIndex":"0x0","transactionIndex":"0x0","removed":false,"transactionHash":"${id}","topics":["${topic}","${id}","${stranger}"],"data":"${data}"}`;
	};
	const block = {
		number: numberToHex(lastBlock),
		timestamp: numberToHex(Math.floor(Date.now() / 1_000)),
		hash: zeroHash,
		transactions: [],
	};
	const logsOf = ({ fromBlock, toBlock }: { fromBlock: Hex; toBlock: Hex }) => {
		const from = Math.max(0, Number(fromBlock) - firstBlock) * ordersPerBlock;
		const to = Math.min(dustOrders, (Number(toBlock) - firstBlock + 1) * ordersPerBlock);
		if (to - from > maxLogs) return `"error":{"code":-32005,"message":"too many results"}`;
		return `"result":[${Array.from({ length: Math.max(0, to - from) }, (_, i) => logAt(from + i)).join()}]`;
	};
	const balances = (call: Hex) => {
		const { args } = decodeFunctionData({ abi: multicall3Abi, data: call });
		const calls = args?.[0] as readonly { target: Address; callData: Hex }[];
		const result = calls.map(({ target, callData }) => {
			const isEscrow = callData.toLowerCase().includes(escrow.slice(2).toLowerCase());
			const isUsdc = target.toLowerCase() === usdc.toLowerCase();
			return { success: true, returnData: numberToHex(isEscrow && isUsdc ? inEscrow : 0n, { size: 32 }) };
		});
		return encodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", result });
	};
	let requests = 0;
	const answer = (method: string, params: unknown[]): string => {
		requests++;
		if (method === "eth_chainId") return `"result":"${numberToHex(chainId)}"`;
		if (method === "eth_getBlockByNumber") return `"result":${JSON.stringify(block)}`;
		if (method === "eth_getLogs") return logsOf(params[0] as never);
		if (method === "eth_call") return `"result":"${balances((params[0] as { data: Hex }).data)}"`;
		return `"error":{"code":-32601,"message":"no method ${method}"}`;
	};
	const respond = async (request: IncomingMessage, response: ServerResponse) => {
		const { id, method, params } = JSON.parse(await text(request));
		response.setHeader("content-type", "application/json");
		response.end(`{"jsonrpc":"2.0","id":${id},${answer(method, params)}}`);
	};
	const server = createServer((request, response) => void respond(request, response));
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests };
}
