/** The directives of a systemd unit: by `Section.Name`, the values in their order. */
export function parseUnit(text: string): Map<string, string[]> {
  const directives = new Map<string, string[]>();
  let section = '';
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    const heading = /^\[(\w+)\]$/.exec(line);
    const directive = /^(\w+)=(.*)$/.exec(line);
    if (heading?.[1] !== undefined) section = heading[1];
    else if (directive?.[1] !== undefined) {
      const name = `${section}.${directive[1]}`;
      directives.set(name, [...(directives.get(name) ?? []), directive[2] ?? '']);
    } else if (!/^\s*([#;].*)?$/.test(line)) {
      throw new Error(`this is no line of a unit: ${line}`);
    }
  }
  return directives;
}

/** What keeps a service of the network that holds private data to itself. */
const HARDENED: Readonly<Record<string, string>> = {
  AmbientCapabilities: '',
  CapabilityBoundingSet: '',
  LockPersonality: 'yes',
  NoNewPrivileges: 'yes',
  PrivateDevices: 'yes',
  PrivateTmp: 'yes',
  ProtectClock: 'yes',
  ProtectControlGroups: 'yes',
  ProtectHome: 'yes',
  ProtectHostname: 'yes',
  ProtectKernelLogs: 'yes',
  ProtectKernelModules: 'yes',
  ProtectKernelTunables: 'yes',
  ProtectSystem: 'strict',
  RestrictNamespaces: 'yes',
  RestrictRealtime: 'yes',
  RestrictSUIDSGID: 'yes',
  StateDirectoryMode: '0700',
  SystemCallArchitectures: 'native',
  UMask: '0077',
};

/** What is wrong with the unit of the daemon. */
export function unitProblems(text: string): string[] {
  const unit = parseUnit(text);
  const service = (name: string) => unit.get(`Service.${name}`)?.at(-1);
  const twice = [...unit].filter(
    ([name, values]) => values.length > 1 && name !== 'Service.SystemCallFilter',
  );
  const user = service('User');
  return [
    ...twice.map(([name]) => `${name} is given twice`),
    ...Object.entries(HARDENED)
      .filter(([name, value]) => service(name) !== value)
      .map(([name, value]) => `${name} is ${service(name) ?? 'missing'}, and should be "${value}"`),
    ...(user === undefined || user === 'root' ? ['the service runs as root'] : []),
    // What speaks for the daemon is a process of its own.
    ...(service('Type') === 'notify' && service('NotifyAccess') === 'all'
      ? []
      : ['the daemon is not heard: Type=notify and NotifyAccess=all belong together']),
    ...(unit.has('Install.WantedBy') ? [] : ['nothing would start it: WantedBy is missing']),
  ];
}
