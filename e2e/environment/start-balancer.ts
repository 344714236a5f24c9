import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ServiceProcess, serviceProcess } from "@geoswap/devnet";
import type { Environment } from "./environment.ts";
import { keepRefusals } from "./refusals.ts";

const publishedFile = join(import.meta.dirname, "../../deploy/haproxy.cfg");

/** Starts HAProxy with the published configuration, in front of API processes of this machine. */
export async function startBalancer(
	{ logDir, serverEnvironment }: Pick<Environment, "logDir" | "serverEnvironment">,
	options: BalancerOptions,
): Promise<ServiceProcess & { baseUrl: string }> {
	const configFile = join(dirname(serverEnvironment.GEOSWAP_CONFIG ?? ""), "haproxy.cfg");
	const { port, apiPorts, checkMs } = options;
	const servers = apiPorts.map((apiPort) => `127.0.0.1:${apiPort}`);
	writeFileSync(configFile, balancerConfig({ bind: `127.0.0.1:${port}`, servers, checkMs }));
	const baseUrl = `http://127.0.0.1:${options.port}`;
	keepRefusals({ baseUrl, logDir });
	const balancer = serviceProcess({
		name: "haproxy",
		command: "haproxy",
		args: ["-db", "-f", configFile],
		env: { PATH: `${process.env.PATH}:/usr/sbin` },
		logFile: join(logDir, "haproxy.log"),
		isReady: async () => (await fetch(`${baseUrl}/ready`)).ok,
	});
	await balancer.start();
	return Object.assign(balancer, { baseUrl });
}

type BalancerOptions = {
	port: number;
	apiPorts: readonly number[];
	/** Interval of the readiness checks, if different from the published one. */
	checkMs?: number | undefined;
};

/** Returns the published file with other addresses, and with as many servers as there are. */
export function balancerConfig({
	bind,
	servers,
	checkMs,
}: {
	bind: string;
	servers: readonly string[];
	checkMs?: number | undefined;
}): string {
	const text = readFileSync(publishedFile, "utf8");
	const [first, ...others] = text.match(/^\s+server .*$/gm) ?? [];
	if (first === undefined) throw new Error(`${publishedFile} names no server`);
	const lines = servers.map((server, i) =>
		first.replace(/server\s+\S+\s+\S+/, `server api-${i + 1} ${server}`),
	);
	return others
		.reduce((left, line) => left.replace(line, ""), text)
		.replace(first, lines.join("\n"))
		.replace(/^(\s+bind) .*$/m, `$1 ${bind}`)
		.replace(/(?<=check inter )\S+/, (published) => (checkMs === undefined ? published : `${checkMs}ms`));
}
