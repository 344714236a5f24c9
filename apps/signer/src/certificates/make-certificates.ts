import { access, chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "@geoswap/keys/config/config-error";
import { authorityDays, openssl } from "./openssl.ts";

export type MadeCertificate = { name: string; certificateFile: string; keyFile: string };

/**
 * Creates certificates for the remote signer and its clients with openssl, and the private authority that signs them
 * if the folder has none yet. Never overwrites a file.
 */
export async function makeCertificates({
	folder,
	servers,
	clients,
	days,
}: {
	folder: string;
	/** Host names or addresses of the signer, all in one certificate. */
	servers: readonly string[];
	/** Names of clients. Each gets a separate certificate. */
	clients: readonly string[];
	days: number;
}): Promise<{ caFile: string; made: MadeCertificate[] }> {
	await mkdir(folder, { recursive: true, mode: 0o700 });
	const caFile = join(folder, "ca.pem");
	if (!(await exists(caFile))) await makeAuthority(folder);
	const made: MadeCertificate[] = [];
	const names = servers.map((name) => `${isIP(name) ? "IP" : "DNS"}:${name}`).join(",");
	if (servers.length > 0)
		made.push(await makeOne(folder, { name: "server", use: `serverAuth\nsubjectAltName=${names}`, days }));
	for (const name of clients) made.push(await makeOne(folder, { name, use: "clientAuth", days }));
	return { caFile, made };
}

const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

async function makeAuthority(folder: string): Promise<void> {
	const keyFile = join(folder, "ca-key.pem");
	const extensions = ["basicConstraints=critical,CA:TRUE,pathlen:0", "keyUsage=critical,keyCertSign,cRLSign"];
	await openssl(
		["req", "-x509", ...curve, "-keyout", keyFile, "-out", join(folder, "ca.pem")],
		["-days", authorityDays, "-subj", "/CN=Geoswap signer authority"],
		extensions.flatMap((extension) => ["-addext", extension]),
	);
	await chmod(keyFile, 0o600);
}

async function makeOne(
	folder: string,
	{ name, use, days }: { name: string; use: string; days: number },
): Promise<MadeCertificate> {
	if (!/^[\w.-]+$/.test(name))
		throw new ConfigError("--client", `${name} is not a name: use letters, digits, ".", "_" and "-"`);
	const [certificateFile, keyFile] = [join(folder, `${name}.pem`), join(folder, `${name}-key.pem`)];
	if (await exists(certificateFile))
		throw new ConfigError(certificateFile, "exists already. Move it away if it is to be replaced");
	const work = await mkdtemp(join(tmpdir(), "geoswap-certificate-"));
	try {
		const [asked, extensions] = [join(work, "request.pem"), join(work, "extensions")];
		await writeFile(
			extensions,
			`basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=${use}\n`,
		);
		await openssl(["req", ...curve, "-keyout", keyFile, "-out", asked, "-subj", `/CN=${name}`]);
		await chmod(keyFile, 0o600);
		await openssl(
			["x509", "-req", "-in", asked, "-out", certificateFile, "-days", String(days), "-extfile", extensions],
			["-CA", join(folder, "ca.pem"), "-CAkey", join(folder, "ca-key.pem")],
		);
	} finally {
		await rm(work, { recursive: true });
	}
	return { name, certificateFile, keyFile };
}

async function exists(path: string): Promise<boolean> {
	return access(path).then(
		() => true,
		() => false,
	);
}
