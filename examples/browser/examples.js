/** Two conversations to try: invented, and the same at every call. */

const PORTS = [
  ['Πειραιάς', 'Piraeus'], ['Χανιά', 'Chania'], ['函館', 'Hakodate'], ['青森', 'Aomori'], ['الإسكندرية', 'Alexandria'], ['İzmir', 'Izmir'],
  ['Одеса', 'Odesa'], ['יפו', 'Jaffa'], ['부산', 'Busan'], ['कोच्चि', 'Kochi'], ['กระบี่', 'Krabi'], ['Þorlákshöfn', 'Thorlakshofn'],
]
const SHIPS = ['Halcyon', 'Petrel', 'Kittiwake', 'Fulmar', 'Gannet', 'Tern']
const SEA = ['calm', 'slight swell', 'moderate, easing', 'rough until noon', 'fog banks before dawn']

/**
 * The request of an agent that plans a tour of harbours: parallel calls, thinking, an error, and names in many scripts.
 * A body of the Anthropic Messages API.
 */
export function harbours() {
  const talk = new Talk()
  talk.user('I restore lighthouse clocks. Plan a tour of these twelve harbours, one clock each, by ferry where there is one. Never book anything before I have said yes, and keep Thorlakshofn for the end: the clock there has waited since 1911.')
  for (const [index, [native, name]] of PORTS.entries()) {
    talk.step(
      index % 3 === 0 ? `${native} is ${name} in the tables. The departures tell whether I can leave on the day of the repair; the sea tells whether I want to.` : '',
      `Looking at ${native} (${name}).`,
      [
        ['timetable', { harbour: name }, timetable(native, name, index)],
        ['sea', { harbour: name, days: 3 }, [1, 2, 3].map((day) => `day ${day}: ${SEA[(index * 2 + day) % SEA.length]}, wind ${(index * 7 + day * 5) % 30} kn, water ${8 + ((index * 5 + day) % 16)} °C`).join('\n')],
      ],
    )
    if (index === 3) {
      talk.answer('Four harbours are done. 函館 and 青森 are joined by a boat that takes 3 h 40 min, so both clocks fit into one day.')
      talk.user('Good. In 函館 ask for Mrs Sato (佐藤); she has the key to clock 4417, and she is only there on Tuesdays.')
    }
    if (index === 7) {
      talk.answer('Eight are done. Odesa has no departures in the table; I note it as a harbour to reach by train.')
      talk.user('Right, by train then. And the spare escapement, part ESC-88-B, goes with me only from Busan on.')
    }
  }
  talk.step('Before I can compare I need the fares, all at once.', '', PORTS.slice(0, 4).map(([, name], index) => ['fare', { harbour: name }, index === 2 ? new Error('503 from fares.example: the table of Hakodate is being rebuilt, try again after 14:10') : `${name}: ${31 + index * 9}.50 EUR, tools up to 40 kg free, clocks count as tools`]))
  talk.step('Only Hakodate failed, and the error gives a time. It is 14:12 now.', 'Asking again for Hakodate.', [['fare', { harbour: 'Hakodate' }, 'Hakodate: 4,230 JPY, tools up to 25 kg free, above that 80 JPY for each kg']])
  for (const [native, name] of PORTS) talk.step('', '', [['workshop', { harbour: name }, workshop(native, name)]])
  talk.answer('All twelve are looked up. The tour takes 23 days: Πειραιάς, Χανιά, İzmir, Одеса (by train), יפו, الإسكندرية, कोच्चि, กระบี่, 부산, 青森, 函館 on a Tuesday, and Þorlákshöfn last. Shall I book?')
  talk.user('Yes, book the first two. For which harbours do I still need a bench that carries 60 kg?')
  return JSON.stringify({
    model: 'claude-sonnet-4-5',
    max_tokens: 4096,
    system: 'You plan journeys of craftsmen. Write harbours in their own script. Ask before you spend money.',
    tools: ['timetable', 'sea', 'fare', 'workshop'].map((name) => ({ name, description: `Returns the ${name} of a harbour.`, input_schema: { type: 'object', properties: { harbour: { type: 'string' } } } })),
    messages: talk.messages,
  }, null, 1)
}

/** The log of a session of Claude Code, as JSON lines: a test that fails at night. */
export function session() {
  const talk = new Talk()
  talk.user('The test `tide_table_spans_midnight` fails, but only at night. Find out why and fix it. Do not touch `tide/legacy.py`.')
  talk.step('A test that fails at night: it reads the real clock somewhere.', 'I will look for the clock.', [
    ['Grep', { pattern: 'now\\(' }, Array.from({ length: 24 }, (_, line) => `tide/${['table', 'moon', 'harbour', 'cli'][line % 4]}.py:${12 + line * 9}:    at = clock.now()${line % 5 === 0 ? '.date()' : ''}`).join('\n')],
    ['Read', { file_path: 'tests/test_table.py' }, Array.from({ length: 60 }, (_, line) => `${line + 1}\tassert table.row(${line}).height == ${(line * 37) % 410} / 100`).join('\n')],
  ])
  talk.step('', '', [['Bash', { command: 'pytest -q tests/test_table.py' }, new Error('FAILED tests/test_table.py::tide_table_spans_midnight - AssertionError: 2026-03-01 != 2026-02-28\n1 failed, 41 passed in 0.52s')]])
  for (const file of ['table', 'moon', 'harbour', 'cli']) {
    talk.step('', `Reading tide/${file}.py.`, [['Read', { file_path: `tide/${file}.py` }, Array.from({ length: 45 }, (_, line) => `${line + 1}\t${' '.repeat((line % 3) * 4)}${file}_${line} = span(${line}, clock.now().date(), zone="UTC+${line % 12}")`).join('\n')]])
  }
  talk.step('`row` takes the date twice, and midnight can be between.', 'The date is taken twice in `table.py`; I take it once.', [['Edit', { file_path: 'tide/table.py', old_string: 'span(clock.now().date(), clock.now().date())', new_string: 'today = clock.now().date()\nspan(today, today)' }, 'The file tide/table.py has been updated.']])
  talk.step('', '', [['Bash', { command: 'pytest -q --clock 23:59:59.999' }, '42 passed in 0.61s']])
  talk.answer('Fixed: the row took the date twice, once on each side of midnight. All 42 tests pass with the clock one millisecond before midnight.')
  talk.user('Are there other places that take it twice?')
  const lines = talk.messages.map((message, index) => ({
    type: message.role,
    uuid: `00000000-0000-4000-8000-${String(index + 1).padStart(12, '0')}`,
    parentUuid: index === 0 ? null : `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    isSidechain: false,
    userType: 'external',
    cwd: '/home/ada/tide',
    sessionId: '00000000-0000-4000-8000-000000000000',
    version: '2.0.0',
    timestamp: new Date(Date.UTC(2026, 1, 28, 22, index)).toISOString(),
    message: message.role === 'user' ? message : { id: `msg_${index}`, type: 'message', model: 'claude-sonnet-4-5', ...message },
  }))
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** Builds a list of messages as Anthropic writes them. */
class Talk {
  /** @type {{ role: string, content: any }[]} */
  messages = []
  #calls = 0

  /** @param {string} text */
  user(text) {
    this.#add('user', [{ type: 'text', text }])
  }

  /** @param {string} text */
  answer(text) {
    this.#add('assistant', [{ type: 'text', text }])
  }

  /**
   * One response of the model with its tool calls and their outputs; an `Error` is an output that says so.
   * @param {string} thinking
   * @param {string} text
   * @param {[string, object, string | Error][]} calls
   */
  step(thinking, text, calls) {
    const ids = calls.map(() => `toolu_${String((this.#calls += 1)).padStart(4, '0')}`)
    this.#add('assistant', [
      ...(thinking === '' ? [] : [{ type: 'thinking', thinking, signature: btoa(String(this.#calls)) }]),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map(([name, input], index) => ({ type: 'tool_use', id: ids[index], name, input })),
    ])
    this.#add('user', calls.map(([, , output], index) => ({
      type: 'tool_result',
      tool_use_id: ids[index],
      content: output instanceof Error ? output.message : output,
      ...(output instanceof Error ? { is_error: true } : {}),
    })))
  }

  /**
   * @param {string} role
   * @param {any[]} content
   */
  #add(role, content) {
    // A role does not come twice in a row.
    const last = this.messages.at(-1)
    if (last?.role === role) last.content.push(...content)
    else this.messages.push({ role, content })
  }
}

/**
 * @param {string} native
 * @param {string} name
 * @param {number} index
 */
function timetable(native, name, index) {
  if (name === 'Odesa') return 'no departures'
  const rows = Array.from({ length: 14 }, (_, row) => {
    const to = PORTS[(index + row + 1) % PORTS.length]
    const minutes = 305 + row * 77 + index * 13
    return `${String(Math.floor(minutes / 60) % 24).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}  ${SHIPS[(index + row) % SHIPS.length].padEnd(10)} berth ${1 + ((row * 3 + index) % 9)}  to ${to[0]} (${to[1]})`
  })
  return `${native}: departures\n${rows.join('\n')}`
}

/**
 * @param {string} native
 * @param {string} name
 */
function workshop(native, name) {
  const load = 30 + ((name.length * 17) % 50)
  return `${native}: a workshop beside the light, with a bench that carries ${load} kg, a vice, a lathe of 1 m and ${name.length} sockets.\nOpen 07:00 to ${15 + (name.length % 5)}:30. Key at the harbour office, against a signature. The lift to the lamp room carries ${load * 2} kg.`
}
