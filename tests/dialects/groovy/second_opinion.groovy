// Runs scripts in real Groovy: reads [{script, given}] from the first file, writes [{value} or {error}] to the second.
import groovy.json.JsonOutput
import groovy.json.JsonSlurperClassic

Date.metaClass.constructor = { -> new Date(1700560800123L) }
System.metaClass.static.currentTimeMillis = { -> 1700560800123L }

def doubles   // numbers with a fraction come into a run as doubles
doubles = { v ->
    if (v instanceof BigDecimal) return v.doubleValue()
    if (v instanceof Map) return v.collectEntries { k, x -> [(k): doubles(x)] }
    return v instanceof List ? v.collect { doubles(it) } : v
}

def json
json = { v ->
    if (v == null || v instanceof Boolean || v instanceof Number || v instanceof String) return v
    if (v instanceof Date) return v.getTime()
    if (v instanceof Map) { def r = [:]; v.each { k, x -> r[String.valueOf(k)] = json(x) }; return r }
    if (v instanceof Map.Entry) return [(String.valueOf(v.key)): json(v.value)]
    if (v instanceof Collection || v.class.isArray()) return v.collect { json(it) }
    return v.toString()
}

def cases = new JsonSlurperClassic().parseText(new File(args[0]).getText('UTF-8'))
def answers = cases.collect { c ->
    try {
        def binding = new Binding()
        c.given.each { k, v -> binding.setVariable(k, doubles(v)) }
        return [value: json(new GroovyShell(binding).evaluate(c.script))]
    } catch (Throwable fault) {
        return [error: fault.getClass().simpleName]
    }
}
new File(args[1]).setText(JsonOutput.toJson(answers), 'UTF-8')
