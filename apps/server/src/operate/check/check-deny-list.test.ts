import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { checkDenyList } from "./check-deny-list.ts";

const limits = { timeoutMs: 5_000, cacheSeconds: 60 };
afterEach(() => vi.unstubAllEnvs());

test("a file is read as a process does, and its first wrong line is named", async ({ onTestFinished }) => {
	const folder = mkdtempSync(join(tmpdir(), "geoswap-check-deny-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	const file = join(folder, "denied.txt");
	const find = () => checkDenyList({ denyList: { file, ...limits } }, { isOffline: true });
	expect(await find()).toMatchObject([{ result: "fail", message: expect.stringContaining("ENOENT") }]);
	writeFileSync(file, `# ours\n0x${"11".repeat(20)}\n`);
	expect(await find()).toEqual([{ part: "deny list", result: "ok", message: "has 1 addresses" }]);
	writeFileSync(file, "0x11\n");
	expect(await find()).toMatchObject([{ result: "fail", message: expect.stringContaining("line 1") }]);
});

test("a service is requested with its token, unless the check is offline, and a useless answer is reported", async ({
	onTestFinished,
}) => {
	const server = createServer(({ headers }, response) => {
		if (headers.authorization !== "Bearer right") response.writeHead(401);
		response.end('{"denied": false}');
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const find = (isOffline = false) => checkDenyList({ denyList: { url, ...limits } }, { isOffline });
	expect(await find()).toMatchObject([{ result: "fail", message: expect.stringContaining("status 401") }]);
	expect(await find(true)).toEqual([]);
	vi.stubEnv("GEOSWAP_DENY_TOKEN", "right");
	expect(await find()).toEqual([{ part: "deny list", result: "ok", message: "answers" }]);
	expect(await checkDenyList({}, { isOffline: false })).toEqual([]);
});
